import { validateHeaderValue } from 'node:http'
import type { InjectOptions } from 'fastify'
import type { ResponseSchemaNode } from '../client/exact-client.ts'
import { type CallParameters, pairWriter, requestTarget } from '../client/request-serialization.ts'
import type { Schema } from '../contract/schema-keywords.ts'
import { isRoundedInteger } from '../json/decimal.ts'
import { exactInteger, exactNumberOf, type JsonDocument, withDoubles } from '../json/json-document.ts'
import { stringifyJson } from '../json/write-json.ts'
import type { ServerParts } from '../routes/server-parts.ts'
import { isObject } from './json-rpc.ts'
import { isToolHeader } from './tool-headers.ts'
import type { OperationTool } from './tool-table.ts'

/** The arguments of a call, and the document in which they were sent, which holds their exact numbers. */
export type GivenArguments = { args: Record<string, unknown>; document: JsonDocument }

/** A request of an operation that is certain to be the one of the tool. */
export type ToolRequest = Pick<InjectOptions, 'method' | 'url' | 'payload'> & { headers: Record<string, string> }

/** Returns the request of a call. Throws a TypeError that names the place of a wrong argument. */
export type RequestOf = (given: GivenArguments) => ToolRequest

const locations = ['path', 'query', 'header'] as const

type Location = (typeof locations)[number]

/** The part of a tool's schema that describes one location. */
type Group = { properties?: Record<string, unknown>; required?: string[] }

/**
 * Returns the function that makes the requests of a tool. It checks the names of the arguments, and validates the
 * parameters by the compiled schemas of the operation, as texts do not tell "1" and 1 apart. The operation itself
 * validates the body. `credentials` are headers that only the caller of the endpoint sets.
 */
export function toolRequests(
  tool: OperationTool,
  nodes: ResponseSchemaNode[],
  { operations, validator, limits }: Pick<ServerParts, 'operations' | 'validator' | 'limits'>,
  credentials: string[],
): RequestOf {
  const { name, operationId = name, method, path, styles = {}, root, contentType = 'application/json' } = tool
  const schema = operations.find((one) => one.operationId === operationId)?.schema
  if (schema === undefined) throw new Error(`mcpServer: the server has no operation ${operationId}; run generate again`)
  const { properties = {}, required = [] } = tool.inputSchema as Group
  const validators = { path: schema.params, query: schema.querystring, header: schema.headers }
  const validate = Object.fromEntries(
    locations.map((location) => [location, validator.request((validators[location] ?? {}) as Schema, location)]),
  ) as Record<Location, ReturnType<typeof validator.request>>

  function checkNames(args: Record<string, unknown>): void {
    // A list of the names would cost more than parsing a message with thousands of them.
    for (const location in args) {
      const given = args[location]
      if (!Object.hasOwn(properties, location)) reject(location, 'is not an argument of the tool')
      if (location === 'body') continue
      if (!isObject(given)) reject(location, 'must be an object')
      const { properties: names = {} } = properties[location] as Group
      for (const each in given as object)
        if (!Object.hasOwn(names, each)) reject(`${location}/${each}`, 'is not an argument of the tool')
    }
    if (required.includes('body') && !Object.hasOwn(args, 'body')) reject('body', 'is missing')
  }

  function checkValues(args: CallParameters, location: Location): void {
    const result = validate[location](withDoubles(args[location] ?? {}))
    if ('error' in result) throw new TypeError(result.error.message)
  }

  function headersOf(pairs: [name: string, value: string][]): Record<string, string> {
    for (const [each, value] of pairs) {
      if (!isToolHeader(each) || credentials.includes(each.toLowerCase()))
        reject(`header/${each}`, 'is a header that no tool sets')
      try {
        validateHeaderValue(each, value)
      } catch {
        reject(`header/${each}`, 'has a character that a header cannot have')
      }
    }
    return Object.fromEntries(pairs)
  }

  return function requestOf(given) {
    checkNames(given.args)
    const args = exactValues(given, root === undefined ? undefined : nodes[root], nodes)
    checkValues(args, 'query')
    checkValues(args, 'header')
    const pairs = pairWriter(name, args, { [name]: styles })
    // Its messages about an empty text say more than those of a schema.
    const url = requestTarget(path, pairs)
    checkValues(args, 'path')
    const headers = headersOf(pairs('header') as [string, string][])
    // A request from elsewhere has the same bound, which this one would not meet without a connection.
    let size = url.length
    for (const pair of Object.entries(headers)) size += pair.join(': \r\n').length
    if (size > limits.headers) throw new TypeError(`the parameters have more than ${limits.headers} bytes`)
    const call = { method: method as NonNullable<InjectOptions['method']>, url }
    if (args.body === undefined) return { ...call, headers }
    return {
      ...call,
      headers: { ...headers, 'content-type': contentType },
      payload: stringifyJson(args.body) as string,
    }
  }
}

/** Characters. A place contains names that the client chose. */
const maxPlace = 100

function reject(place: string, problem: string): never {
  throw new TypeError(`${place.length > maxPlace ? `${place.slice(0, maxPlace)}…` : place}: ${problem}`)
}

/**
 * Returns arguments with a bigint for each int64, which is a string of digits, and for each other integer that a double
 * does not hold. Throws a TypeError for a number in place of an int64, and for what no JSON text may hold.
 */
function exactValues(
  { args, document }: GivenArguments,
  root: ResponseSchemaNode | undefined,
  nodes: ResponseSchemaNode[],
): CallParameters & { body?: unknown } {
  return exact(args, root, '') as CallParameters

  function exact(value: unknown, node: ResponseSchemaNode | undefined, place: string): unknown {
    if (node?.int64 && Number.isInteger(value))
      reject(place, 'must be a string of digits, since JSON numbers beyond 2^53 are rounded')
    if (node?.int64 && typeof value === 'string' && /^-?\d{1,20}$/.test(value)) return BigInt(value)
    // JSON has no infinity, and JSON.stringify would write null.
    if (typeof value === 'number' && !Number.isFinite(value)) reject(place, 'is beyond the numbers that a double holds')
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((_, index) => below(value, index, node, place))
    return Object.fromEntries(Object.keys(value).map((key) => [key, below(value, key, node, place)]))
  }

  function below(holder: object, key: string | number, node: ResponseSchemaNode | undefined, place: string): unknown {
    const inner = (holder as Record<string | number, unknown>)[key]
    const at = place === '' ? String(key) : `${place}/${key}`
    if (key === '__proto__') reject(at, 'is not allowed as a name')
    const { members = {}, others } = node ?? {}
    const index = (Object.hasOwn(members, key) ? members[key] : others) ?? -1
    const text = typeof inner === 'number' ? exactNumberOf(document, holder, key) : undefined
    if (text === undefined || nodes[index]?.int64) return exact(inner, nodes[index], at)
    const integer = exactInteger(text)
    if (integer === undefined && typeof text === 'string' && Number.isFinite(inner) && isRoundedInteger(text))
      reject(at, 'must be a number that a double holds without rounding')
    return integer ?? exact(inner, undefined, at)
  }
}
