import { type Endpoint, routedPath } from '../../document/openapi-document.ts'
import { headerOf } from '../checks/documented-response.ts'
import type { Exchange } from '../exchange.ts'
import { responseJson } from './exchange-json.ts'

/** Returns whether a value can be a segment of a path. */
export const isJsonScalar = (value: unknown): value is string | number | bigint | boolean =>
  (typeof value === 'string' && value !== '') || ['number', 'bigint', 'boolean'].includes(typeof value)

/** Returns a name without case and separators: petId, pet_id and PetID are the same. */
const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')

/**
 * Returns the value of the parameter at the end of a path for a resource that was created: from the response, by the name
 * of the parameter or by `id`; from its Location; or from the request, where the client chooses it.
 */
export function identifyingValue(exchange: Exchange, item: Endpoint, parameter: string): unknown {
  const { request, response } = exchange
  const body = responseJson(response)
  return (
    valueNamed(body, parameter) ??
    fromLocation(headerOf(response, 'location'), item) ??
    valueNamed(request.values.body?.value, parameter)
  )
}

/** Returns the member of a body, or of a member that wraps it such as `data`, that has the name of a parameter. */
function valueNamed(body: unknown, parameter: string, depth = 0): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined
  const wanted = plainName(parameter)
  const members = Object.entries(body)
  const named = members.find(([name]) => plainName(name) === wanted)
  // The id of a pet is the petId of its path.
  const short = members.find(([name]) => plainName(name).length > 1 && wanted.endsWith(plainName(name)))
  for (const [, value] of [named, short].flatMap((one) => (one ? [one] : []))) if (isJsonScalar(value)) return value
  if (depth > 0) return undefined
  for (const [, value] of members) {
    const found = valueNamed(value, parameter, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Returns the last segment of a Location whose segment before it is that of the path of the item. Before the only segment
 * of a path, there may be a base path or the prefix of a document.
 */
function fromLocation(location: string | undefined, item: Endpoint): string | undefined {
  if (location === undefined || !URL.canParse(location, 'http://localhost')) return undefined
  const segments = new URL(location, 'http://localhost').pathname.replace(/\/$/, '').split('/')
  const last = segments.at(-1) ?? ''
  const parent = routedPath(item.path).replace(/\/$/, '').split('/').at(-2) ?? ''
  if (parent !== '' && parent !== segments.at(-2) && !parent.startsWith('{')) return undefined
  try {
    return decodeURIComponent(last) || undefined
  } catch {
    return undefined
  }
}
