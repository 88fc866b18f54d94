import t from 'tap'
import type { Document, Parameter } from '../../src/compile/document/openapi-document.ts'
import { serveDocument } from '../support/serve-document.ts'

const text = { type: 'string' }
const int64 = { type: 'integer', format: 'int64' }
const list = { type: 'array', items: text }

/** Creates an app with one operation, which responds with the parameters that its handler receives. */
async function create(path: string, parameters: Parameter[]) {
  const content = { 'application/json': { schema: {} } }
  const responses = { 200: { description: 'ok', content } }
  const document: Document = {
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    paths: { [path]: { get: { operationId: 'read', parameters, responses } } },
    components: { schemas: { List: list, Lists: { $ref: '#/components/schemas/List' } } },
  }
  const read = async ({ body: _, ...parameters }: { body: unknown }) => ({ status: 200, body: parameters })
  const app = await serveDocument(document, { handlers: { read } })
  return async (url: string, headers: Record<string, string> = {}) => (await app.inject({ url, headers })).json()
}

const nothing = { path: {}, query: {}, header: {}, cookie: {} }

t.test('path parameters may have any name and share a segment', async (t) => {
  const read = await create('/plants/{plant-id}/{a.b}.{toString}', [
    { name: 'plant-id', in: 'path', required: true, schema: int64 },
    { name: 'a.b', in: 'path', required: true, schema: text },
    { name: 'toString', in: 'path', required: true, schema: text },
  ])
  t.same(await read('/plants/7/x%20y.z'), { ...nothing, path: { 'plant-id': 7, 'a.b': 'x y', toString: 'z' } })
  t.match(await read('/plants/x/a.b'), { error: 40003, message: 'path/plant-id must be an int64 integer' })
})

t.test('query values are read in the styles of OpenAPI', async (t) => {
  const read = await create('/plants', [
    { name: 'tag', in: 'query', schema: text },
    { name: 'plant-id', in: 'query', schema: int64 },
    { name: 'each', in: 'query', schema: list },
    { name: 'form', in: 'query', explode: false, schema: { $ref: '#/components/schemas/Lists' } },
    { name: 'space', in: 'query', style: 'spaceDelimited', explode: false, schema: list },
    { name: 'pipe', in: 'query', style: 'pipeDelimited', explode: false, schema: list },
  ])
  const cases: [string, object][] = [
    ['', {}],
    ['?', {}],
    ['?other=1&toString=2&__proto__=3&%zz=4&&', {}],
    ['?tag=a+b%2Bc&plant%2Did=7', { tag: 'a b+c', 'plant-id': 7 }],
    ['?tag=', { tag: '' }],
    ['?tag', { tag: '' }],
    ['?tag=a=b', { tag: 'a=b' }],
    ['?each=a&each=b%2Cc', { each: ['a', 'b,c'] }],
    ['?each=a', { each: ['a'] }],
    ['?form=a,b%2Cc', { form: ['a', 'b,c'] }],
    ['?space=a%20b+c', { space: ['a', 'b', 'c'] }],
    ['?pipe=a|b%7Cc', { pipe: ['a', 'b', 'c'] }],
  ]
  for (const [query, expected] of cases) t.same(await read(`/plants${query}`), { ...nothing, query: expected }, query)
  t.match(await read('/plants?tag=a&tag=b'), { error: 40003, message: 'query/tag must be given once' })
  t.match(await read('/plants?tag=%E4'), { error: 40001 })
})

t.test('text is converted to the types of its schema, else stays text', async (t) => {
  const read = await create('/plants', [
    { name: 'null', in: 'query', schema: { type: ['integer', 'null'], format: 'int64' } },
    { name: 'text', in: 'query', schema: { type: ['string', 'null'] } },
    { name: 'mixed', in: 'query', schema: { anyOf: [{ type: 'integer', format: 'int64' }, { type: 'string' }] } },
    { name: 'flag', in: 'query', schema: { enum: [true, 'maybe'] } },
    { name: 'digits', in: 'query', schema: { const: '12' } },
    { name: 'number', in: 'query', schema: { type: 'number' } },
  ])
  const cases: [string, object][] = [
    ['?null=', { null: null }],
    ['?text=', { text: '' }],
    ['?mixed=7', { mixed: 7 }],
    ['?mixed=x', { mixed: 'x' }],
    ['?flag=true', { flag: true }],
    ['?flag=maybe', { flag: 'maybe' }],
    ['?digits=12', { digits: '12' }],
    ['?number=-1.5e1', { number: -15 }],
  ]
  for (const [query, expected] of cases) t.same(await read(`/plants${query}`), { ...nothing, query: expected }, query)
  for (const text of ['0x10', '%201', '01', '1e', 'true', '']) {
    t.match(await read(`/plants?number=${text}`), { error: 40003, message: 'query/number must be number' }, text)
  }
})

t.test('header names are case-insensitive, and a cookie value may contain an equals sign', async (t) => {
  const read = await create('/plants', [
    { name: 'X-Trace-Id', in: 'header', required: true, schema: int64 },
    { name: 'X-Tags', in: 'header', schema: list },
    { name: 'session', in: 'cookie', required: true, schema: text },
    { name: 'seen', in: 'cookie', explode: false, schema: list },
  ])
  t.same(await read('/plants', { 'x-trace-id': '7', 'X-TAGS': 'a, b', cookie: 'other=1; session=a=b; seen=x,y' }), {
    ...nothing,
    header: { 'X-Trace-Id': 7, 'X-Tags': ['a', 'b'] },
    cookie: { session: 'a=b', seen: ['x', 'y'] },
  })
  t.match(await read('/plants', { cookie: 'session=a' }), {
    message: "header must have required property 'X-Trace-Id'",
  })
  t.match(await read('/plants', { 'x-trace-id': '7' }), { message: "cookie must have required property 'session'" })
})

t.test('a plus in a cookie stays a plus, and a cookie that cannot be decoded is reported by name', async (t) => {
  const read = await create('/plants', [
    { name: 'a+b', in: 'cookie', schema: text },
    { name: 'seen', in: 'cookie', explode: false, schema: list },
  ])
  t.same(await read('/plants', { cookie: 'a+b=c+d%20e; seen=x+y,z' }), {
    ...nothing,
    cookie: { 'a+b': 'c+d e', seen: ['x+y', 'z'] },
  })
  for (const cookie of ['a+b=%zz', 'a+b=%E4']) {
    t.match(await read('/plants', { cookie }), { error: 40003, message: 'cookie/a+b is not percent-encoded UTF-8' })
  }
  t.same(await read('/plants', { cookie: '%zz=1; seen=%2C' }), { ...nothing, cookie: { seen: [','] } })
})
