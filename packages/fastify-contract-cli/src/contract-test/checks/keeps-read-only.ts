import type { Schema } from 'fastify-contract/contract'
import { responseKey } from 'fastify-contract/contract'
import { stringifyJson } from 'fastify-contract/json'
import { isIgnored, mergeKeywords } from 'fastify-contract/schema'
import type { Exchange, TestRequest, TestResponse } from '../exchange.ts'
import { exactJson } from '../sequences/exchange-json.ts'
import type { FoundBySending, Probe, Tools } from './check.ts'
import { describedType, headerOf } from './documented-response.ts'
import { otherValues } from './other-values.ts'

/** The maximum number of properties of an operation that are tested. */
const maxProperties = 3

export const keepsReadOnly: Probe = {
  name: 'keeps-read-only',
  summary: 'A value that a request gives for a readOnly property is ignored or rejected.',
  async probe(exchange, tools) {
    const failures: FoundBySending[] = []
    for (const [name, values] of readOnlyValues(exchange, tools).slice(0, maxProperties))
      failures.push(...(await probeOf(exchange.request, name, values, tools)))
    return failures
  },
}

/** Sends two values of a property. A server that ignores both can have one of them by chance, but not each. */
async function probeOf(
  { body, ...request }: TestRequest,
  name: string,
  values: unknown[],
  tools: Tools,
): Promise<FoundBySending[]> {
  const sent: FoundBySending[] = []
  for (const value of values) {
    const given = { ...(json(body) as object), [name]: value }
    const one: TestRequest = {
      ...request,
      body: Buffer.from(stringifyJson(given) as string),
      // A server of this engine ignores the value. Another one may reject it.
      violation: tools.contract.isOwn
        ? undefined
        : { part: 'body', place: `/${name}`, reason: 'a value of a readOnly property', isStrict: true },
    }
    const response = await tools.send(one)
    if (response === undefined || response.status >= 300) return []
    const read = await readAfter(one, response, tools)
    const taken = stringifyJson(value)
    if (stringifyJson(Object(json(read?.response.body))[name]) !== taken || read === undefined) return []
    sent.push({
      expected: `another value of the readOnly property /${name} than the one that was sent`,
      got: `${taken}`,
      kind: name,
      exchange: read,
      earlier: read.request === one ? [] : [one],
    })
  }
  return sent.slice(-1)
}

/** Returns what is read after a change: by a GET of the same path if there is one, or else from the response. */
async function readAfter(
  request: TestRequest,
  response: TestResponse,
  { operations, readAt, send }: Tools,
): Promise<Exchange | undefined> {
  const { path } = request.operation
  const hasGet = operations.some((one) => one.path === path && one.method === 'GET')
  if (!hasGet || request.method === 'POST') return { request, response }
  const read = readAt(request)
  const got = read && (await send(read))
  return read && got && { request: read, response: got }
}

/** Returns the readOnly properties of a request, each with two valid values that its response does not have. */
function readOnlyValues(exchange: Exchange, { contract }: Tools): [string, unknown[]][] {
  const { request, response } = exchange
  const { schemas, validator, routeOf } = contract
  const { body, response: responses = {} } = routeOf(request.operation)?.schema ?? {}
  const sent = schemaFor(body?.content, request.headers['content-type'])
  const got = schemaFor(
    responses[responseKey(responses, response.status) ?? '']?.content,
    headerOf(response, 'content-type'),
  )
  const [given, returned] = [json(request.body), json(response.body)]
  if (sent === undefined || got === undefined || !isObject(given) || !isObject(returned)) return []
  const marked = mergeKeywords(schemas, [sent]).properties
  const described = mergeKeywords(schemas, [got]).properties
  return [...marked].flatMap(function valuesOf([name, all]): [string, unknown[]][] {
    const isMarked = all.length > 0 && all.every(isIgnored)
    if (!isMarked || !Object.hasOwn(returned, name)) return []
    const isValid = (value: unknown) =>
      (described.get(name) ?? []).every((schema) => validator.problem(schema, '')(value) === undefined)
    const values = otherValues(returned[name], described.get(name) ?? [])
      .filter(isValid)
      .slice(0, 2)
    return values.length === 2 ? [[name, values]] : []
  })
}

type Content = Record<string, { schema?: Schema }>

function schemaFor(content: Content = {}, contentType = ''): Schema | undefined {
  const type = describedType(Object.keys(content), contentType)
  return type === undefined ? undefined : content[type]?.schema
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const json = (bytes: Uint8Array = new Uint8Array()): unknown => exactJson(bytes)
