import type { Document, Parameter } from 'fastify-contract-cli/testing'
import t from 'tap'
import { serveDocument } from '../support/serve-document.ts'

const responses = { 200: { description: 'ok', content: { 'application/json': { schema: {} } } } }
const integers = { type: 'array', items: { type: 'integer' } }
const strings = { type: 'array', items: { type: 'string' } }
const letters = { type: 'array', items: { enum: ['a', 'b'] } }
const dates = { type: 'array', items: { $ref: '#/components/schemas/Date' } }
const schemas = {
  Date: { type: 'string', format: 'date' },
  Kinds: { type: 'array', items: { type: 'string', enum: ['pii', 'sid', 'ip'] } },
}

type Read = (query: string, headers?: Record<string, string>) => Promise<unknown>

/** Serves an operation with parameters. Returns a function that returns what its handler gets, or the message of a 400. */
async function create(...parameters: Parameter[]): Promise<Read> {
  const path = parameters.some((one) => one.in === 'path') ? '/lists/v{list}/of' : '/lists'
  const document: Document = {
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    paths: { [path]: { get: { operationId: 'read', parameters, responses } } },
    components: { schemas },
  }
  const read = async ({ path, query, header, cookie }: Record<string, object>) => ({
    status: 200,
    body: { ...path, ...query, ...header, ...cookie },
  })
  const app = await serveDocument(document, { handlers: { read } })
  return async (given, headers = {}) => {
    const url = given.startsWith('/') ? `/lists/v${given.slice(1)}/of` : `/lists?${given}`
    const answer = (await app.inject({ url, headers })).json()
    return answer.message ?? answer
  }
}

const inQuery = (schema: object, more: object = {}) => ({ name: 'list', in: 'query', schema, ...more }) as Parameter
const delimited = [{ explode: false }, { style: 'spaceDelimited' }, { style: 'pipeDelimited' }]

t.test('an empty text is an empty list where no item can be empty', async (t) => {
  for (const schema of [integers, letters, dates])
    for (const more of [{}, ...delimited]) {
      const read = await create(inQuery(schema, more))
      t.same(await read('list='), { list: [] }, JSON.stringify({ schema, more }))
      t.same(await read('list'), { list: [] })
      t.same(await read(''), {})
    }
  const inHeader = await create({ name: 'X-Ids', in: 'header', schema: integers })
  t.same(await inHeader('', { 'x-ids': '' }), { 'X-Ids': [] })
  const inCookie = await create({ name: 'ids', in: 'cookie', explode: false, schema: integers })
  t.same(await inCookie('', { cookie: 'ids=' }), { ids: [] })
  for (const [style, explode, text] of [
    ['label', false, '.'],
    ['label', true, '.'],
    ['matrix', false, ';list='],
    ['matrix', true, ';list'],
  ] as const) {
    const inPath = await create({ name: 'list', in: 'path', required: true, style, explode, schema: integers })
    t.same(await inPath(`/${text}`), { list: [] }, `${style} ${explode}`)
  }
})

t.test('an empty text is one empty item where an item may be empty, and minItems applies', async (t) => {
  t.same(await (await create(inQuery(strings)))('list='), { list: [''] })
  const atLeastOne = await create(inQuery({ ...integers, minItems: 1 }))
  t.equal(await atLeastOne('list='), 'query/list must NOT have fewer than 1 items')
  const allowed = await create(inQuery(integers, { allowEmptyValue: true }))
  t.same(await allowed('list='), { list: [] })
})

t.test('an empty item among others is named', async (t) => {
  const read = await create({ name: 'X-Ids', in: 'header', schema: integers })
  t.equal(await read('', { 'x-ids': '1,,2' }), 'header/X-Ids/1 must be integer')
  t.equal(await read('', { 'x-ids': '1,2,' }), 'header/X-Ids/2 must be integer')
  const inQueryOf = await create(inQuery(integers))
  t.equal(await inQueryOf('list=1&list='), 'query/list/1 must be integer')
})

t.test('an encoded comma separates items that cannot contain one, and is data of the others', async (t) => {
  for (const more of [{}, ...delimited]) {
    const read = await create(inQuery(integers, more))
    for (const text of ['1%2C2', '1%2c2', '1,2', ...(more === delimited[1] ? ['1%202', '1+2'] : [])])
      t.same(await read(`list=${text}`), { list: [1, 2] }, `${JSON.stringify(more)} ${text}`)
    t.same(await read('list=1&list=2'), { list: [1, 2] }, 'a repeated name')
    const readText = await create(inQuery(strings, more))
    t.same(await readText('list=a%2Cb'), { list: ['a,b'] })
  }
  t.same(await (await create(inQuery(dates)))('list=2026-01-01%2C2026-01-02'), { list: ['2026-01-01', '2026-01-02'] })
  const inCookie = await create({ name: 'ids', in: 'cookie', explode: false, schema: integers })
  t.same(await inCookie('', { cookie: 'ids=1%2C2' }), { ids: [1, 2] })
  const inPath = await create({ name: 'list', in: 'path', required: true, schema: integers })
  t.same(await inPath('/1%2C2'), { list: [1, 2] })
  const free = await create(inQuery({ type: 'array', items: { enum: ['a,b', 'c'] } }, { explode: false }))
  t.same(await free('list=a%2Cb,c'), { list: ['a,b', 'c'] })
})

t.test('the names of a list may have brackets', async (t) => {
  for (const more of [{}, { explode: false }, { style: 'pipeDelimited' }]) {
    const read = await create(inQuery(strings, more), { name: 'other', in: 'query', schema: { type: 'string' } })
    t.same(await read('list[]=a&list[]=b'), { list: ['a', 'b'] })
    t.same(await read('list%5B%5D=a%2Cb'), { list: ['a,b'] })
    t.same(await read('list[1]=b&list[0]=a&list[10]=c'), { list: ['a', 'b', 'c'] })
    t.equal(await read('list[a]=1'), 'query/list must be sent as list=A&list=B, not as list[a]')
    t.equal(await read('list[=1'), 'query/list must be sent as list=A&list=B, not as list[')
    t.equal(await read('list=a&list[]=b'), 'query/list must be named list or list[], not both')
  }
  const own = await create(inQuery(strings), { name: 'list[]', in: 'query', schema: integers })
  t.same(await own('list[]=1'), { 'list[]': [1] }, 'a declared name with brackets')
  const others = { type: 'object', additionalProperties: { type: 'string' } }
  const open = await create(inQuery(strings), { name: 'others', in: 'query', schema: others })
  t.same(await open('list[]=a'), { others: { 'list[]': 'a' } }, 'an object takes every name')
})

t.test('names in brackets of an object whose texts have no certain type get 400', async (t) => {
  const object = { anyOf: [{ type: 'object', properties: { a: { type: 'integer' } } }, { type: 'integer' }] }
  const read = await create(inQuery(object))
  t.equal(await read('list[a]=1'), 'query/list must be sent as NAME=VALUE, not as list[a]')
  t.same(await read('a=1'), { list: { a: 1 } })
  t.same(await read('list=1'), { list: 1 })
})

t.test('an object in brackets may be one JSON text', async (t) => {
  const inner = { type: 'object', properties: { b: { type: 'integer', format: 'int64' } } }
  const read = await create(inQuery({ type: 'object', properties: { a: inner } }, { style: 'deepObject' }))
  t.same(await read('list=%7B%22a%22:%7B%22b%22:1%7D%7D'), { list: { a: { b: 1 } } })
  t.same(await read('list[a]=%7B%22b%22:1%7D'), { list: { a: { b: 1 } } })
  t.match(await read('list=a'), /^query\/list cannot be parsed as JSON/)
})

const one = { type: 'string', enum: ['pii', 'all'] }
const kinds = { $ref: '#/components/schemas/Kinds' }

t.test('one text is a single value if the schema allows it, otherwise a list', async (t) => {
  for (const keyword of ['oneOf', 'anyOf'])
    for (const schema of [{ [keyword]: [one, kinds] }, { allOf: [{ [keyword]: [one, kinds] }] }]) {
      const read = await create(inQuery(schema), { name: 'also', in: 'query', schema })
      t.same(await read('list=pii'), { list: 'pii' })
      t.same(await read('list=sid'), { list: ['sid'] })
      t.same(await read('list=pii&list=sid'), { list: ['pii', 'sid'] })
      t.same(await read('list[]=pii'), { list: ['pii'] })
      t.same(await read('list=sid&also=ip'), { list: ['sid'], also: ['ip'] })
      t.match(await read('list=x'), /^query\/list must /)
      t.match(await read('list=sid&also=x'), /^query\/also must /)
    }
  const numbers = await create(inQuery({ anyOf: [{ type: 'integer', maximum: 9 }, integers] }))
  t.same(await numbers('list=7'), { list: 7 })
  t.same(await numbers('list=70'), { list: [70] })
  t.same(await numbers('list=1,2'), { list: [1, 2] })
  t.same(await numbers('list='), { list: [] })
  const flags = await create(inQuery({ anyOf: [{ type: 'boolean' }, integers] }))
  t.same(await flags('list=true'), { list: true })
  t.same(await flags('list=1'), { list: [1] })
  const nullable = await create(inQuery({ type: ['array', 'null'], items: { type: 'integer' } }))
  t.same(await nullable('list='), { list: null })
  t.same(await nullable('list=1'), { list: [1] })
  const texts = await create(inQuery({ type: ['array', 'null'], items: { type: 'string' } }))
  t.same(await texts('list='), { list: [''] })
})

t.test('several parts of one text are a list if the schema allows it, otherwise a single value', async (t) => {
  const schema = { oneOf: [{ type: 'string', pattern: '^[x,]+$' }, kinds] }
  const read = await create({ name: 'X-Redact', in: 'header', schema })
  t.same(await read('', { 'x-redact': 'pii, sid' }), { 'X-Redact': ['pii', 'sid'] })
  t.same(await read('', { 'x-redact': 'x,x' }), { 'X-Redact': 'x,x' })
  t.same(await read('', { 'x-redact': 'sid' }), { 'X-Redact': ['sid'] })
  const inCookie = await create({ name: 'redact', in: 'cookie', schema: { oneOf: [one, kinds] } })
  t.same(await inCookie('', { cookie: 'redact=pii' }), { redact: 'pii' })
})

t.test('a text that is no valid number, boolean or null is a string if the schema allows that', async (t) => {
  const rate = {
    oneOf: [
      { type: 'string', enum: ['48000', 'true'] },
      { type: 'number', maximum: 100 },
    ],
  }
  const read = await create(
    inQuery(rate),
    inQuery({ type: ['boolean', 'string'], enum: [false, 'true'] }, { name: 'b' }),
  )
  t.same(await read('list=48000&b=true'), { list: '48000', b: 'true' })
  t.same(await read('list=7&b=false'), { list: 7, b: false })
  t.same(await read('list=true'), { list: 'true' })
  t.match(await read('list=101'), /^query\/list must be string; .*; query\/list must be <= 100; /)
  t.match(await read('list=x'), /^query\/list must be equal to one of the allowed values; /)
  const code = await create(inQuery({ type: ['integer', 'string'], minimum: 10, pattern: '^0|[a-z]$' }))
  t.same(await code('list=12'), { list: 12 })
  t.match(await code('list=9'), 'query/list must be >= 10')
  const exact = await create(inQuery({ type: ['integer', 'string'], format: 'int64' }))
  t.same(await exact('list=9223372036854775808'), { list: '9223372036854775808' })
})

t.test('the fields of a form are read alike', async (t) => {
  const schema = {
    type: 'object',
    properties: { ids: integers, tags: strings, redact: { oneOf: [one, kinds] } },
    additionalProperties: false,
  }
  const content = { 'application/x-www-form-urlencoded': { schema } }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    paths: { '/form': { post: { operationId: 'read', requestBody: { required: true, content }, responses } } },
    components: { schemas },
  } as unknown as Document
  const read = async ({ body }: { body: unknown }) => ({ status: 200, body })
  const app = await serveDocument(document, { handlers: { read } })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const post = async (payload: string) => (await app.inject({ method: 'POST', url: '/form', headers, payload })).json()
  t.same(await post('ids=1%2C2&redact=pii'), { ids: [1, 2], redact: 'pii' })
  t.same(await post('ids=&tags[]=a&tags[]=b&redact=sid'), { ids: [], tags: ['a', 'b'], redact: ['sid'] })
  t.match(await post('other[]=1'), { error: 40003 })
})
