import type { Document } from '../../document/openapi-document.ts'
import type { RequestValues, TestRequest } from '../exchange.ts'
import { boundaryValues } from '../values/boundaries.ts'
import type { Json } from '../values/json-notations.ts'
import { bodySource, isCertainBody } from './body-values.ts'
import { first } from './listed-requests.ts'
import { type ValidParts, withParameter } from './valid-values.ts'
import { generatorOf, isCertain, type ValueSources } from './value-sources.ts'
import { writeRequest } from './write-request.ts'

/** The maximum number of requests with values at a bound. */
const maxRequests = 200

/** Returns requests that have one value at the bound of a constraint each, and otherwise the same values. */
export function boundaryRequests(document: Document, valid: ValidParts, sources: ValueSources): TestRequest[] {
  const { parts, parameters, bodies } = valid
  const base = baseValues(valid)
  const requests: TestRequest[] = []
  const add = (values: RequestValues) => {
    const request = requests.length < maxRequests ? writeRequest(parts, values, 'boundary') : undefined
    if (request !== undefined) requests.push(request)
  }
  add(base)
  for (const { part } of parameters) {
    if (sources.hook(part.name, part.schema) !== undefined) continue
    for (const value of boundaryValues(document, generatorOf(sources, part), part.schema))
      if (isCertain(sources, part, value)) add(withParameter(base, part.key, value))
  }
  for (const { part, values } of bodies) {
    const { mediaType, kind, schema } = part
    const isItems = kind === 'lines' || kind === 'events'
    add({ ...base, body: { mediaType, value: first(values) } })
    if (kind === 'bytes' || (kind === 'text' && !part.isChecked)) continue
    for (const value of boundaryValues(document, bodySource(sources, part), schema)) {
      const sent = isItems ? [value] : value
      if (isCertainBody(sources, part, sent as Json)) add({ ...base, body: { mediaType, value: sent } })
    }
  }
  return requests
}

/** Returns the values of a request without the optional parts. */
function baseValues({ parts, parameters, bodies }: ValidParts): RequestValues {
  const required = parameters.filter(({ part }) => part.isRequired)
  const [body] = bodies
  return {
    parameters: new Map(required.map(({ part, values }) => [part.key, first(values)])),
    body: parts.isBodyRequired && body ? { mediaType: body.part.mediaType, value: first(body.values) } : undefined,
  }
}
