import * as fc from 'fast-check'
import type { Document } from 'fastify-contract-cli/testing'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import qs from 'qs'
import t from 'tap'
import type { NestedPlace } from '../../src/contract/routes.ts'
import type { Schema } from '../../src/contract/schema-keywords.ts'
import { decodeText, parseQuery } from '../../src/http/request-head.ts'
import { textReader } from '../../src/request/text-reader.ts'
import { serveDocument } from '../support/serve-document.ts'

/** Returns a function that reads the value `a` from a query or a form. */
function reader(...places: NestedPlace[]) {
  const value = { name: 'a', key: 'a', kind: 'nested', style: 'deepObject', explode: true, types: [] } as const
  const read = textReader([{ ...value, types: [], places }], { part: 'query', decode: decodeText })
  return (text: string) => (read(parseQuery(text)).value as { a?: unknown }).a
}

const name = fc.constantFrom('b', 'constructor', 'toString', 'x y', 'é', '1x', '01', '0', '2', 'a.b')
const text = fc.constantFrom('', '0', 'true', 'a&b=c', '[d]', '%', '+ é')
const texts = fc.array(text, { minLength: 1, maxLength: 3 })
const { nested } = fc.letrec((tie) => ({
  nested: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.array(tie('nested'), { minLength: 1, maxLength: 3 }),
    fc.dictionary(name, tie('nested'), { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
  ),
}))
const lists = fc.dictionary(name, fc.oneof(text, texts), { minKeys: 1, maxKeys: 3, noNullPrototype: true })

/** Returns whether two readings are equal. The order of members does not matter. */
const agree = (given: string) => {
  const { a } = qs.parse(given, { depth: 16, strictDepth: true, plainObjects: true, throwOnLimitExceeded: true })
  return JSON.stringify(sorted(reader({ types: [] })(given))) === JSON.stringify(sorted(a))
}
const sorted = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => [key, sorted(member)])
}

t.test('a value that no schema describes is read as the package qs reads it', async (t) => {
  for (const encodeValuesOnly of [false, true]) {
    fc.assert(fc.property(nested, (a) => agree(qs.stringify({ a }, { encodeValuesOnly }))))
    for (const arrayFormat of ['indices', 'brackets', 'repeat'] as const)
      fc.assert(fc.property(lists, (a) => agree(qs.stringify({ a }, { arrayFormat, encodeValuesOnly }))))
  }
  for (const given of ['a[][b]=1&a[][c]=2', 'a[1]=x&a[0]=y', 'a[3]=x&a[7]=y', 'a[0]=x&a[b]=y', 'a[b][]=', 'a[]'])
    t.ok(agree(given), given)
})

t.test('the schema decides where qs guesses', async (t) => {
  const string = { types: ['string'] }
  const object = { types: ['object'], others: 1 }
  const list = { types: ['array'], items: 1 }
  const cases: [string, string, ...NestedPlace[]][] = [
    ['a[0]=x&a[2]=y', '{"0":"x","2":"y"}', object, string],
    ['a[]=x', '{"":"x"}', object, string],
    ['a[]=x&a[0]=y', '{"0":"y","":"x"}', { types: ['array', 'object'], others: 1 }, string],
    ['a=x', '["x"]', list, string],
    ['a=x&a=y', '["x","y"]', list, string],
    ['a[]=x&a[]=y', '["x","y"]', list, string],
    ['a[999999999]=y&a[2]=x', '["x","y"]', list, string],
    ['a[9999999999999999]=y', '{"9999999999999999":"y"}', list, string],
    ['a=', 'null', { types: ['array', 'null'], items: 1 }, string],
    ['a=', '""', { types: ['object', 'string'], others: 1 }, string],
    ['a=x', '"x"', { types: ['array', 'string'], items: 1 }, string],
    ['a=5&a=6', '[5,6]', { types: ['array', 'integer'], items: 1 }, { types: ['integer'] }],
    ['a[__proto__][constructor]=1', '{"__proto__":{"constructor":1}}', { types: ['object', 'integer'], others: 0 }],
    ['a[b]=1', '{"b":"1"}', { types: ['object'], members: { b: -1 }, others: 1 }, { types: ['integer'] }],
  ]
  for (const [given, expected, ...places] of cases) t.equal(JSON.stringify(reader(...places)(given)), expected, given)
  t.equal(Object.getPrototypeOf(reader({ types: ['object'] })('a[__proto__]=1')), Object.prototype)
})

t.test('names that contradict each other are rejected', async (t) => {
  const object = { types: ['object'], others: 1 }
  const cases: [string, string][] = [
    ['a[b]=1&a[b]=2', 'query/a must have b only once'],
    ['a=1&a[b]=2', 'query/a must have a either as one value or with members, not both'],
    ['a[b]=1&a[b][c]=2', 'query/a must have b either as one value or with members, not both'],
    ['a[b]c=1', 'query/a must have balanced brackets in its names'],
  ]
  for (const [given, message] of cases)
    t.throws(() => reader(object, { types: ['string'] })(given), { message, kind: 'invalid' }, given)
})

t.test('a name may have 16 levels of brackets', async (t) => {
  const deep = (levels: number) => `a${'[b]'.repeat(levels)}=1`
  t.equal(JSON.stringify(reader()(deep(16))), `${'{"b":'.repeat(16)}"1"${'}'.repeat(16)}`)
  for (const levels of [17, 5_000])
    t.throws(() => reader()(deep(levels)), {
      message: 'query/a must have at most 16 levels of brackets in its names',
      kind: 'invalid',
    })
})

/** CPU milliseconds, which other processes hardly change, far below those of a quadratic or exponential validation. */
const maxGap = 600

/** Returns a function that sends a body to an operation with this schema and measures the CPU time of the longest turn meanwhile. */
async function served(schema: Schema, schemas: Record<string, Schema> = {}) {
  const content = { 'application/json': { schema } }
  const operation = { operationId: 'test', requestBody: { content }, responses: { 204: { description: 'Valid.' } } }
  const app = await serveDocument(
    {
      openapi: '3.1.0',
      info: { title: 'Test', version: '1.0.0' },
      paths: { '/test': { post: operation } },
      components: { schemas } as object,
    } as Document,
    { handlers: { test: async () => ({ status: 204, body: undefined }) } },
  )
  t.teardown(() => app.close())
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  return async (text: string) => {
    let last = process.cpuUsage()
    let gap = 0
    let turn = setImmediate(function measure() {
      const { user, system } = process.cpuUsage(last)
      gap = Math.max(gap, (user + system) / 1000)
      last = process.cpuUsage()
      turn = setImmediate(measure)
    })
    const headers = { 'content-type': 'application/json' }
    const { status, body } = await httpRequest(origin, { method: 'POST', path: '/test', headers, body: text })
    clearImmediate(turn)
    return { status, body, gap: Math.round(gap) }
  }
}

t.test('uniqueItems of 14,000 objects takes linear time', async (t) => {
  const send = await served({ type: 'array', uniqueItems: true, items: { type: 'object' } })
  const objects = Array.from({ length: 14_000 }, (_, n) => `{"id":"x${n}"}`)
  const { status, gap } = await send(`[${objects}]`)
  t.equal(status, 204)
  t.ok(gap < maxGap, `${gap} ms`)
  const { status: refused, body } = await send(`[${objects},{"id":"x3"}]`)
  t.equal(refused, 400)
  t.match(body, 'items ## 3 and 14000 are identical')
})

t.test('uniqueItems at every level of a deep list takes linear time', async (t) => {
  const list = { type: ['array', 'integer'], uniqueItems: true, items: { $ref: '#/components/schemas/List' } }
  const send = await served({ $ref: '#/components/schemas/List' }, { List: list })
  const inner = Array.from({ length: 40_000 }, (_, n) => n)
  const { status, gap } = await send(`${'['.repeat(120)}[${inner}]${',0]'.repeat(120)}`)
  t.equal(status, 204)
  t.ok(gap < maxGap, `${gap} ms`)
})

const node = { $ref: '#/components/schemas/Node' }
const chain = (depth: number, end: string) => `${'{"next":'.repeat(depth)}${end}${'}'.repeat(depth)}`
const next = { properties: { next: node } }
const unions: Record<string, Schema> = {
  anyOf: { type: 'object', anyOf: [{ ...next, required: ['never'] }, next] },
  oneOf: { type: 'object', oneOf: [{ ...next, required: ['never'] }, next] },
  allOf: { type: 'object', allOf: [next, next] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  if: { type: 'object', if: next, then: next, else: next },
  unevaluatedProperties: {
    type: 'object',
    anyOf: [{ ...next, required: ['never'] }, { properties: { next: { allOf: [node, node] } } }],
    properties: { id: { type: 'integer', format: 'int64' } },
    unevaluatedProperties: false,
  },
}

for (const [keyword, schema] of Object.entries(unions))
  t.test(`a recursive ${keyword} takes linear time`, async (t) => {
    const send = await served(node, { Node: schema })
    const valid = await send(chain(120, '{}'))
    t.equal(valid.status, 204, valid.body)
    t.ok(valid.gap < maxGap, `${valid.gap} ms`)
    const invalid = await send(chain(120, '1'))
    t.equal(invalid.status, 400)
    t.ok(invalid.gap < maxGap, `${invalid.gap} ms`)
  })

t.test('a long text of the format url takes linear time', async (t) => {
  const send = await served({ type: 'string', format: 'url' })
  const { status, gap } = await send(`"http://${':'.repeat(250_000)}"`)
  t.equal(status, 400)
  t.ok(gap < maxGap, `${gap} ms`)
  for (const url of ['https://example.com/a?b#c', 'http://localhost:1', 'FTP://example.com'])
    t.equal((await send(`"${url}"`)).status, 204, url)
  for (const url of ['example.com', 'mailto:a@example.com', 'http://', 'http://a b', 'http://a:b'])
    t.equal((await send(`"${url}"`)).status, 400, url)
})
