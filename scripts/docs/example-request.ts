import { exampleOfContent } from '../generate/examples.ts'
import { isInt64 } from '../generate/inexact-integers.ts'
import { branches, memberSchemas } from '../generate/int64-replies.ts'
import type { Document, Endpoint, Parameter } from '../generate/openapi-document.ts'
import { filledPath, pairText, parameterPairs } from '../generate/parameter-pairs.ts'
import { describing } from '../generate/schema-types.ts'

/** A request of an operation with the examples of its document. An int64 is a bigint. */
export type ExampleRequest = {
  method: string
  /** The URL of the server, and the path below it as the document has it. */
  server: string
  path: string
  /** The path with the values of its parameters, and the query. */
  target: string
  headers: Record<string, string>
  /** The parameters by kind and name. */
  params: Partial<Record<Parameter['in'], Record<string, unknown>>>
  body: unknown
  hasToken: boolean
}

/**
 * Returns a request of an operation, with its required parameters and the optional ones of its query that have an
 * example.
 */
export function exampleRequest(document: Document, endpoint: Endpoint): ExampleRequest {
  const { method, server, path, requestBody } = endpoint
  const shown = endpoint.parameters.filter((parameter) => parameter.required || isShown(parameter))
  const values = shown.map((parameter) => ({ parameter, value: shownValue(document, parameter) }))
  const pairs = (kind: Parameter['in']) =>
    values
      .filter(({ parameter }) => parameter.in === kind)
      .flatMap(({ parameter, value }) => parameterPairs(parameter, value))
  const query = pairs('query').map(pairText)
  const cookies = pairs('cookie').map(pairText)
  const [[mediaType, content] = []] = Object.entries(requestBody?.content ?? {})
  const hasToken = takesToken(document, endpoint)
  const params: ExampleRequest['params'] = {}
  for (const { parameter, value } of values) params[parameter.in] = { ...params[parameter.in], [parameter.name]: value }
  return {
    method,
    server,
    path,
    target: filledPath(path, pairs('path')) + (query.length > 0 ? `?${query.join('&')}` : ''),
    headers: {
      ...(hasToken && { Authorization: 'Bearer <ACCESS_TOKEN>' }),
      ...(mediaType !== undefined && { 'Content-Type': mediaType }),
      ...Object.fromEntries(pairs('header')),
      ...(cookies.length > 0 && { Cookie: cookies.join('; ') }),
    },
    params,
    body: content && exact(document, [content.schema], exampleOfContent(document, content)),
    hasToken,
  }
}

const isShown = (parameter: Parameter): boolean =>
  parameter.in === 'query' && ['example', 'examples'].some((key) => Object.hasOwn(parameter, key))

/** An empty text would leave a hole in a path. */
function shownValue(document: Document, parameter: Parameter): unknown {
  const value = exact(document, [parameter.schema], exampleOfContent(document, parameter))
  return value === '' ? parameter.name : value
}

/** Returns a value with each int64 of its schemas as a bigint. */
function exact(document: Document, holders: unknown[], value: unknown): unknown {
  const schemas = describing(document, holders, branches)
  if (Number.isInteger(value) && schemas.some(isInt64)) return BigInt(value as number)
  const below = (member: unknown, name: string) =>
    exact(
      document,
      schemas.flatMap((schema) => memberSchemas(schema, name)),
      member,
    )
  if (Array.isArray(value)) return value.map((item, index) => below(item, String(index)))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, below(member, name)]))
}

/** Returns whether the first way to authenticate includes a bearer token. */
function takesToken({ components = {} }: Document, { security: [first = {}] }: Endpoint): boolean {
  const { securitySchemes = {} } = components as { securitySchemes?: Record<string, { type: string; scheme?: string }> }
  return Object.keys(first).some((name) => {
    const { type, scheme } = securitySchemes[name] ?? { type: '' }
    return ['oauth2', 'openIdConnect'].includes(type) || (type === 'http' && /^bearer$/i.test(scheme ?? ''))
  })
}
