import t, { type Test } from 'tap'
import { defaultLimits } from '../../src/limits/limits.ts'
import { serveDocument } from '../support/serve-document.ts'

/* What a request means by the letter stays, although clients also write similar texts for something else. */

const integer = { type: 'integer' }
const string = { type: 'string' }
const responses = { 200: { description: 'What the handler got.', content: { 'application/json': { schema: {} } } } }

type Input = { body: unknown } & Record<'path' | 'query' | 'header' | 'cookie', object>

async function respond({ query, header, cookie, body }: Input): Promise<object> {
  if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body))
    return { status: 200, body: body ?? { ...query, ...header, ...cookie } }
  const values: unknown[] = []
  for await (const { value } of body as AsyncIterable<{ value: unknown }>) values.push(value)
  return { status: 200, body: values }
}

async function serve(t: Test, operation: object) {
  const method = 'requestBody' in operation ? 'POST' : 'GET'
  const read = { operationId: 'read', ...operation, responses }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Notations', version: '1.0.0' },
    paths: { '/read': { [method.toLowerCase()]: read } },
  }
  const app = await serveDocument(document as never, { handlers: { read: respond } as never })
  t.teardown(() => app.close())
  return async (query: string, headers: object = {}, payload?: string): Promise<unknown> => {
    const options = { method, url: `/read${query}`, headers, ...(payload !== undefined && { payload }) } as const
    const response = await app.inject(options as never)
    return response.statusCode === 200 ? response.json() : [response.statusCode, response.json().message]
  }
}

const serveParameters = (t: Test, ...parameters: object[]) => serve(t, { parameters })
const inQuery = (schema: object, more: object = {}) => ({ name: 'v', in: 'query', schema, ...more })
const inCookie = (schema: object) => ({ name: 'v', in: 'cookie', explode: false, schema })

t.test('the text null is an item of a list of strings', async (t) => {
  const words = { type: ['array', 'null'], items: { type: 'string', pattern: '^[a-z]+$' } }
  const list = await serveParameters(t, inQuery(words, { explode: false }))
  t.same(await list('?v=null'), { v: ['null'] })
  t.same(await list('?v='), { v: null })
  const numbers = await serveParameters(t, inQuery({ type: ['array', 'null'], items: integer }, { explode: false }))
  t.same(await numbers('?v=null'), { v: null })
  const lists = { k: words, any: { type: ['array', 'null'] }, i: { type: ['array', 'null'], items: integer } }
  const nested = await serveParameters(t, inQuery({ type: 'object', properties: lists }, { style: 'deepObject' }))
  t.same(await nested('?v[k]=null&v[any]=null&v[i]=null'), { v: { k: ['null'], any: ['null'], i: null } })
})

t.test('the items after those of prefixItems may contain commas', async (t) => {
  const tuple = await serveParameters(t, inQuery({ type: 'array', prefixItems: [integer] }, { explode: false }))
  t.same(await tuple('?v=1,a%2Cb'), { v: [1, 'a,b'] })
  const closed = { type: 'array', prefixItems: [integer], items: integer }
  t.same(await (await serveParameters(t, inQuery(closed, { explode: false })))('?v=1%2C2'), { v: [1, 2] })
})

t.test('a pattern that allows commas or percent signs keeps encoded commas as data', async (t) => {
  for (const pattern of ['^[^%]+$', '^[^,]+$', '^.+$', '[a-z]+']) {
    const list = { type: 'array', items: { type: 'string', pattern } }
    const read = await serveParameters(t, inQuery(list, { explode: false }))
    t.not(((await read('?v=a%2Cb')) as { v?: unknown[] }).v?.length, 2, pattern)
  }
})

t.test('a boolean beside a list has the texts of a boolean alone', async (t) => {
  const boolean = { type: 'boolean' }
  const read = await serveParameters(t, inQuery({ anyOf: [boolean, { type: 'array', items: integer }] }))
  t.same(await read('?v=True'), { v: true })
  t.same(await read('?v=1'), { v: [1] })
})

t.test('a name in brackets or with dots belongs to the parameter or the field of this name', async (t) => {
  const flat = inQuery({ type: 'object', properties: { a: integer, s: string } }, { explode: false })
  const both = await serveParameters(t, flat, { name: 'v[a]', in: 'query', schema: string })
  t.same(await both('?v[a]=1'), { 'v[a]': '1' })
  t.same(await both('?v[a]=1&v[s]=x'), { 'v[a]': '1', v: { s: 'x' } })
  const object = { type: 'object', properties: { a: integer } }
  const form = 'application/x-www-form-urlencoded'
  const fields = await serve(t, {
    requestBody: { content: { [form]: { schema: { type: 'object', properties: { o: object, 'o[a]': string } } } } },
  })
  t.same(await fields('', { 'content-type': form }, 'o[a]=1'), { 'o[a]': '1' })
  const any = { type: 'object', additionalProperties: string }
  const open = await serve(t, {
    requestBody: {
      content: {
        [form]: {
          schema: { type: 'object', properties: { o: object, any } },
          encoding: { any: { style: 'form', explode: true } },
        },
      },
    },
  })
  t.same(await open('', { 'content-type': form }, 'o[a]=1'), { any: { 'o[a]': '1' } }, 'an object takes every name')
  t.same(await open('', { 'content-type': form }, 'o=%7B%22a%22:1%7D'), { o: { a: 1 } })
  t.same(await fields('', { 'content-type': form }, 'o={}&o={}'), [400, 'body/o must be given once'])
})

t.test('a name with dots has no brackets, and an object has no items', async (t) => {
  const o = { type: 'object', properties: { a: string } }
  const deep = await serveParameters(t, inQuery({ type: 'object', properties: { o } }, { style: 'deepObject' }))
  t.same(await deep('?v.o.a=1'), { v: { o: { a: '1' } } })
  t.same(await deep('?v.o.a[x]=1'), {}, 'an undeclared parameter')
  const plain = await serveParameters(t, inQuery(o, { explode: false }))
  t.same(await plain('?v[]=1'), [400, 'query/v must be sent as v=NAME,VALUE, not as v[]'])
})

t.test('the name of a property may begin as JSON does', async (t) => {
  const header = { name: 'X-V', in: 'header', explode: true, schema: { type: 'object', additionalProperties: string } }
  const exploded = await serveParameters(t, header)
  t.same(await exploded('', { 'x-v': '{x=1' }), { 'X-V': { '{x': '1' } })
  const style = { style: 'spaceDelimited', explode: false }
  const spaced = await serveParameters(t, inQuery({ type: 'object', properties: { a: integer } }, style))
  t.same(await spaced('?v={x%201'), { v: { '{x': '1' } })
  t.match(await spaced('?v={x'), [400, /cannot be parsed as JSON/])
})

t.test('a percent sign or a backslash in a cookie', async (t) => {
  const list = await serveParameters(t, inCookie({ type: 'array', items: string }))
  t.same(await list('', { cookie: 'v=5%,a' }), { v: ['5%', 'a'] })
  t.match(await list('', { cookie: 'v=5%,a%2Cb' }), [400, /not percent-encoded/], 'two readings')
  const one = await serveParameters(t, inCookie(string))
  t.match(await one('', { cookie: 'v=a%20b%' }), [400, /not percent-encoded/], 'two readings')
  t.same(await one('', { cookie: 'v="\\374\\054%"' }), { v: 'ü,%' }, 'Python writes ISO-8859-1 as octal codes')
  t.same(await one('', { cookie: 'v="a\\"\\\\"' }), { v: 'a"\\' }, 'Python escapes quotes and backslashes')
  t.same(await one('', { cookie: 'v="\\033"' }), { v: '\\033' }, 'a control character is no escape')
  t.same(await one('', { cookie: 'v="C:\\dir"' }), { v: 'C:\\dir' }, 'a backslash that is no escape stays')
  const json = { name: 'v', in: 'cookie', content: { 'application/json': { schema: {} } } }
  const parsed = await serveParameters(t, json)
  t.same(await parsed('', { cookie: 'v="5%"' }), { v: '5%' })
})

t.test('the items of a list in a multipart form', async (t) => {
  const time = { type: 'string', format: 'date-time' }
  const schema = { type: 'object', properties: { v: { type: 'array', items: integer }, s: string, time } }
  const read = await serve(t, { requestBody: { content: { 'multipart/form-data': { schema } } } })
  const form = (...parts: [head: string, text: string][]) =>
    read(
      '',
      { 'content-type': 'multipart/form-data; boundary=b' },
      `${parts.map(([head, text]) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`).join('')}--b--`,
    )
  t.same(await form(['name="v[0]"', '1'], ['name="v[2]"', '2'], ['name="v[]"', '3']), [1, 2, 3])
  const message = 'body/v must have its items in order, but v[0] follows v[1]'
  t.same(await form(['name="v[1]"', '2'], ['name="v[0]"', '1']), [400, message])
  t.same(await form(['name=s', '%22'], ['name=%73', 'x']), ['%22'])
  t.same(await form(['name=time', '2026-01-02T03:04:05+0200']), ['2026-01-02T03:04:05+02:00'])
  const { formFields } = defaultLimits
  const many = (count: number) => '1,'.repeat(count - 1).concat('1')
  t.equal(((await form(['name=v', many(formFields)])) as unknown[]).length, formFields)
  t.match(await form(['name=v', many(formFields)], ['name=v', '1']), [413, /fields/], 'each item counts as a field')
  t.match(await form(['name=v', many(100_000)]), [413, /fields/])
})
