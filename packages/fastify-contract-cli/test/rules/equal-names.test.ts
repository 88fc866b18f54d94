import { exactClient } from 'fastify-contract/client'
import t from 'tap'
import { callStyles } from '../../src/document/call-styles.ts'
import type { Document } from '../../src/document/openapi-document.ts'
import { normalizedDocument } from '../../src/passes/normalize.ts'
import { checkDocument } from '../../src/rules/check-document.ts'
import { serveDocument } from '../support/serve-document.ts'

const integer = { type: 'integer' }
const page = {
  name: 'page',
  in: 'query',
  schema: { type: 'object', properties: { limit: integer, from: { type: 'string' } } },
}
const limit = { name: 'limit', in: 'query', schema: { type: 'string' } }
const open = (name: string, place = 'query') => ({
  name,
  in: place,
  schema: { type: 'object', additionalProperties: { type: 'string' } },
})
const filter = {
  name: 'filter',
  in: 'query',
  style: 'deepObject',
  schema: { type: 'object', properties: { low: integer } },
}
const low = { name: 'filter[low]', in: 'query', schema: integer }
const key = (place: string) => ({ type: 'apiKey', in: place, name: 'key' })

function documentOf(parameters: object[], schemes: Record<string, object> = {}): Document {
  const responses = { 200: { description: 'ok', content: { 'application/json': { schema: {} } } } }
  const security = Object.keys(schemes).map((name) => ({ [name]: [] }))
  return {
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    paths: { '/a': { get: { operationId: 'read', parameters, responses, security } } },
    components: { securitySchemes: schemes },
  } as Document
}

async function serve(document: Document) {
  const read = async ({ query = {}, cookie = {} }: Record<string, object>) => ({
    status: 200,
    body: { ...query, ...cookie },
  })
  const client = { name: 'test', scopes: [] }
  const verify = (_request: unknown, done: (rejection: undefined, given: object) => void) => done(undefined, client)
  const app = await serveDocument(document, { handlers: { read } as never, verifiers: { key: () => verify as never } })
  t.teardown(() => app.close())
  return app
}

const at = '#/paths/~1a/get/parameters'

t.test('a single value is given to each parameter that has its name', async (t) => {
  const document = documentOf([page, limit])
  t.same(checkDocument(document), {
    rejected: [],
    warnings: [
      `${at}/0: parameter page: its property limit has the same name as parameter limit; each receives the value; rename one of them, or use explode: false`,
    ],
  })
  const app = await serve(document)
  for (const [query, value] of [
    ['limit=5', { page: { limit: 5 }, limit: '5' }],
    ['limit=5&limit=5', { page: { limit: 5 }, limit: '5' }],
    ['from=a', { page: { from: 'a' } }],
    ['', {}],
  ] as const)
    t.same((await app.inject(`/a?${query}`)).json(), value, query)
  for (const query of ['limit=5&limit=6', 'limit=a', 'from=a&from=a'])
    t.equal((await app.inject(`/a?${query}`)).statusCode, 400, query)
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 })
  const client = exactClient<Record<string, never>>(
    { parameters: callStyles(normalizedDocument(document)) },
    { baseUrl },
  )
  const { GET } = client as unknown as { GET(path: string, options: object): Promise<{ data: unknown }> }
  const query = { page: { limit: 5 }, limit: '5' }
  t.same((await GET('/a', { params: { query } })).data, query)
})

t.test('two objects may have a property of one name', async (t) => {
  const document = documentOf([page, { ...page, name: 'other' }])
  t.match(checkDocument(document), { rejected: [], warnings: { length: 4 } })
  const app = await serve(document)
  t.same((await app.inject('/a?limit=5&limit=5')).json(), { page: { limit: 5 }, other: { limit: 5 } })
})

t.test('a name in brackets may also be that of a parameter with a single value', async (t) => {
  const document = documentOf([filter, low])
  t.same(checkDocument(document), {
    rejected: [],
    warnings: [
      `${at}/0: parameter filter: filter[low] names both a property of it and parameter filter[low]; each receives the value; rename one of them`,
    ],
  })
  const app = await serve(document)
  for (const query of ['filter[low]=1', 'filter[low]=1&filter[low]=1'])
    t.same((await app.inject(`/a?${query}`)).json(), { filter: { low: 1 }, 'filter[low]': 1 }, query)
  t.equal((await app.inject('/a?filter[low]=1&filter[low]=2')).statusCode, 400)
})

t.test('an object that accepts every name does not receive the API key', async (t) => {
  for (const place of ['query', 'cookie']) {
    const document = documentOf([open('all', place)], { key: key(place) })
    t.same(checkDocument(document), {
      rejected: [],
      warnings: [
        `${at}/0: parameter all: its additionalProperties accept every name in the ${place}, but security scheme key is left out; list its properties by name only, or use explode: false`,
      ],
    })
    const app = await serve(document)
    const answer = await app.inject(
      place === 'query' ? '/a?key=secret&b=c' : { url: '/a', headers: { cookie: 'key=secret; b=c' } },
    )
    t.same(answer.json(), { all: { b: 'c' } }, place)
  }
})

t.test('equal names that leave several readings are refused', async (t) => {
  const list = { name: 'limit', in: 'query', schema: { type: 'array', items: integer } }
  const json = { name: 'limit', in: 'query', content: { 'application/json': { schema: {} } } }
  const named = { ...page, schema: { type: 'object', properties: { key: { type: 'string' } } } }
  for (const [parameters, schemes] of [
    [[page, list]],
    [[page, json]],
    [[filter, { ...list, name: 'filter[low]' }]],
    [[open('all'), open('more')]],
    [[named], { key: key('query') }],
    [[{ ...filter, name: 'k' }], { key: { ...key('query'), name: 'k[low]' } }],
  ] as [object[], Record<string, object>?][]) {
    const { rejected } = checkDocument(documentOf(parameters, schemes))
    t.not(rejected.length, 0, JSON.stringify(parameters))
  }
})

t.test('an exploded object may also be a single value, which is sent under its own name', async (t) => {
  const schema = {
    oneOf: [{ type: 'object', properties: { low: integer, high: integer } }, integer, { type: 'boolean' }],
  }
  for (const place of ['query', 'cookie']) {
    const document = documentOf([{ name: 'size', in: place, schema }])
    t.same(checkDocument(document), { rejected: [], warnings: [] })
    const app = await serve(document)
    const answer = (text: string) =>
      app.inject(place === 'query' ? `/a?${text}` : { url: '/a', headers: { cookie: text.replaceAll('&', '; ') } })
    for (const [text, value] of [
      ['size=5', { size: 5 }],
      ['size=true', { size: true }],
      ['low=1&high=2', { size: { low: 1, high: 2 } }],
      ['other=1', {}],
    ] as const)
      t.same((await answer(text)).json(), value, text)
    for (const text of ['size=a', 'size=5&low=1', 'low=a']) t.equal((await answer(text)).statusCode, 400, text)
  }
  const document = documentOf([{ name: 'size', in: 'query', schema }])
  const app = await serve(document)
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 })
  const client = exactClient<Record<string, never>>(
    { parameters: callStyles(normalizedDocument(document)) },
    { baseUrl },
  )
  const { GET } = client as unknown as { GET(path: string, options: object): Promise<{ data: unknown }> }
  for (const size of [5, false, { low: 1 }]) t.same((await GET('/a', { params: { query: { size } } })).data, { size })
  for (const unclear of [
    { oneOf: [{ type: 'object', properties: { size: integer } }, integer] },
    { oneOf: [{ type: 'object', additionalProperties: integer }, integer] },
    {
      oneOf: [
        { type: 'object', properties: { low: integer } },
        { type: 'array', items: integer },
      ],
    },
  ])
    t.match(checkDocument(documentOf([{ name: 'size', in: 'query', schema: unclear }])).rejected, [
      /may be an object or another type, which its style cannot distinguish/,
    ])
})
