import { performance } from 'node:perf_hooks'
import t from 'tap'
import { httpRequest } from '../../../../test/support/http-request.ts'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import type { Schema } from '../../src/serve/schema-keywords.ts'
import { serveDocument } from '../support/serve-document.ts'

/** A limit that a busy machine keeps, far below the seconds or years of a quadratic or exponential validation. */
const maxGap = 600

/** Returns a function that sends a body to an operation with this schema and measures the longest turn meanwhile. */
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
    let last = performance.now()
    let gap = 0
    let turn = setImmediate(function measure() {
      gap = Math.max(gap, performance.now() - last)
      last = performance.now()
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

for (const [keyword, schema] of Object.entries(unions)) {
  t.test(`a recursive ${keyword} takes linear time`, async (t) => {
    const send = await served(node, { Node: schema })
    const valid = await send(chain(120, '{}'))
    t.equal(valid.status, 204, valid.body)
    t.ok(valid.gap < maxGap, `${valid.gap} ms`)
    const invalid = await send(chain(120, '1'))
    t.equal(invalid.status, 400)
    t.ok(invalid.gap < maxGap, `${invalid.gap} ms`)
  })
}

t.test('a long text of the format url takes linear time', async (t) => {
  const send = await served({ type: 'string', format: 'url' })
  const { status, gap } = await send(`"http://${':'.repeat(250_000)}"`)
  t.equal(status, 400)
  t.ok(gap < maxGap, `${gap} ms`)
  for (const url of ['https://example.com/a?b#c', 'http://localhost:1', 'FTP://example.com']) {
    t.equal((await send(`"${url}"`)).status, 204, url)
  }
  for (const url of ['example.com', 'mailto:a@example.com', 'http://', 'http://a b', 'http://a:b']) {
    t.equal((await send(`"${url}"`)).status, 400, url)
  }
})
