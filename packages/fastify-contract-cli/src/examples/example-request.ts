import { expandPath, type ParameterPair, pairText } from 'fastify-contract/client'
import { basicCredentials, type Schema } from 'fastify-contract/contract'
import type { Document, Endpoint, Parameter } from '../document/openapi-document.ts'
import { holderOf, schemaOf, type WithExample } from '../document/parameter-objects.ts'
import { preconditionsOf } from '../document/preconditions.ts'
import { isInt64, memberSchemas, schemasDescribing } from '../document/schemas.ts'
import type { Credential } from '../document/security-schemes.ts'
import { exampleOfRequest } from './examples.ts'
import { type ExampleBody, exampleParts } from './request-examples.ts'

/** A request of an operation with the document's examples. Each int64 is a bigint. */
export type ExampleRequest = {
  method: string
  /** The URL of the server; `path` is the path template below it. */
  server: string
  path: string
  /** The path with the values of its parameters, and the query. */
  target: string
  headers: Record<string, string>
  /** The parameters by location and name. */
  params: Partial<Record<Parameter['in'], Record<string, unknown>>>
  body: unknown
  /** How the body is sent; undefined without a body. */
  sent: ExampleBody | undefined
  /** The headers that carry credentials. */
  credentials: Record<string, string>
}

/**
 * Returns an example request of an operation, with its required parameters, the optional ones that have an example, and
 * the credentials of its `shownRequirement`: placeholders, or those with a token of `listVerifier`.
 */
export function exampleRequest(
  document: Document,
  endpoint: Endpoint,
  { token }: { token?: string } = {},
): ExampleRequest {
  const { method, server, path, requestBody } = endpoint
  const exactExample = (schema: Schema | undefined, content: WithExample): unknown =>
    exact(document, [schema], exampleOfRequest(document, content))
  const parts = exampleParts(document, endpoint, (parameter) =>
    shownValue(parameter, exactExample(schemaOf(parameter), holderOf(parameter))),
  )
  const { values, pairs, body: sent } = parts
  const placed = (place: Credential['in']): ParameterPair[] => {
    const found: ParameterPair[] = []
    for (const one of parts.credentials)
      if (one.in === place)
        found.push([one.name, one.prefix + (token === undefined ? placeholderOf(one) : credentialsOf(one, token))])
    return found
  }
  const query = [...pairs('query'), ...placed('query')].map(pairText)
  const cookies = [...pairs('cookie'), ...placed('cookie')].map(pairText)
  const credentials = Object.fromEntries(placed('header'))
  // Some documents describe an API key as a parameter, too.
  const keys = new Set(Object.keys(credentials).map((name) => name.toLowerCase()))
  const [content] = Object.values(requestBody?.content ?? {})
  // The service rejects a request without a precondition. This one holds for each state of what exists.
  const needsPrecondition =
    preconditionsOf(document, endpoint)?.isRequired &&
    !pairs('header').some(([name]) => name.toLowerCase() === 'if-match')
  const params: ExampleRequest['params'] = {}
  for (const { parameter, value } of values) params[parameter.in] = { ...params[parameter.in], [parameter.name]: value }
  return {
    method,
    server,
    path,
    target: expandPath(path, pairs('path')) + (query.length > 0 ? `?${query.join('&')}` : ''),
    headers: {
      ...credentials,
      ...(needsPrecondition && { 'If-Match': '*' }),
      ...(sent !== undefined && { 'Content-Type': sent.mediaType }),
      ...Object.fromEntries(pairs('header').filter(([name]) => !keys.has(name.toLowerCase()))),
      ...(cookies.length > 0 && { Cookie: cookies.join('; ') }),
    },
    params,
    body: content && exactExample(content.schema, content),
    sent,
    credentials,
  }
}

/** Returns a placeholder for a credential. An API key may be in a URL, where brackets would be percent-encoded. */
function placeholderOf({ prefix }: Credential): string {
  if (prefix === '') return 'API_KEY'
  return prefix === 'Bearer ' ? '<ACCESS_TOKEN>' : '<CREDENTIALS>'
}

const credentialsOf = ({ prefix }: Credential, token: string): string =>
  prefix === 'Basic ' ? basicCredentials(token) : token

/**
 * Returns the example value of a parameter; its name instead of an empty string, which would leave an empty path
 * segment. An operation whose path has a query such as `?full` is found by the empty value.
 */
export const shownValue = ({ name, allowEmptyValue }: Parameter, value: unknown): unknown =>
  value === '' && allowEmptyValue !== true ? name : value

/** Returns a value with each int64 of its schemas as a bigint. */
function exact(document: Document, holders: unknown[], value: unknown): unknown {
  const schemas = schemasDescribing(document, holders)
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
