import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { compileDocument } from 'fastify-contract-cli/compile'
import type { Document } from 'fastify-contract-cli/testing'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import t from 'tap'
import type { AnyHandler } from '../../src/routes/request-steps.ts'
import { serveDocument } from '../support/serve-document.ts'

const documentOf = (paths: object): Document =>
  ({ openapi: '3.1.0', info: { title: 'Bodies', version: '1' }, paths }) as unknown as Document

const json = { description: 'What was read.', content: { 'application/json': {} } }
const withBody = (operationId: string, requestBody: object) => ({
  post: { operationId, requestBody, responses: { 200: json } },
})

type Input = { body: unknown; contentType?: string }

/** A handler that returns the parts of a form as it reads them. */
const readParts = (async ({ body }: Input) => {
  const read = []
  for await (const part of body as AsyncIterable<Record<string, never>>) {
    const { name, value, contentType, stream } = part
    read.push(stream === undefined ? [name, value] : [name, contentType, await text(stream)])
  }
  return { status: 200, body: read }
}) as AnyHandler

/** A handler that returns the text of the bytes that it reads. */
const readBytes = (async ({ body, contentType = 'one' }: Input, { headers }) => {
  const read = body === undefined ? null : await text(body as AsyncIterable<Buffer>)
  return { status: 200, body: [headers['content-type'] ?? null, contentType, read] }
}) as AnyHandler

const readValue = (async ({ body }: Input) => ({ status: 200, body })) as AnyHandler

/** Returns a multipart form with the given parts: each has its Content-Disposition parameters and its text. */
const parts = (...all: [head: string, text: string][]): string =>
  `${all.map(([head, text]) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`).join('')}--b--\r\n`

const multipart = 'multipart/form-data; boundary=b'

t.test('a form whose parts are not described gives each part as a file', async (t) => {
  const binary = { type: 'string', format: 'binary' }
  const paths = Object.fromEntries(
    [{}, { schema: {} }, { schema: binary }, { schema: { type: 'object', minProperties: 2 } }].map((media, index) => [
      `/form${index}`,
      withBody(`form${index}`, { required: true, content: { 'multipart/form-data': media } }),
    ]),
  )
  const ids = Object.keys(paths).map((path) => path.slice(1))
  const app = await serveDocument(documentOf(paths), { handlers: Object.fromEntries(ids.map((id) => [id, readParts])) })
  const headers = { 'content-type': multipart }
  for (const id of ids) {
    const payload = parts(['name=a; filename=a.png\r\nContent-Type: image/png', '1'], ['name=b', '2'], ['name=b', '3'])
    const { body } = await app.inject({ method: 'POST', url: `/${id}`, headers, payload })
    t.equal(body, '[["a","image/png","1"],["b","text/plain","2"],["b","text/plain","3"]]', id)
  }
  const payload = parts(['name=a', '1'])
  t.equal((await app.inject({ method: 'POST', url: '/form3', headers, payload })).statusCode, 400, 'minProperties')
})

t.test('a part that is not read as described is a file, and the others are validated', async (t) => {
  const schema = { $ref: '#/components/schemas/Form' }
  const Form = {
    type: 'object',
    required: ['photo', 'meta'],
    oneOf: [{ required: ['count'] }, { required: ['size'] }],
    properties: {
      photo: { type: 'string', format: 'binary', minLength: 1, pattern: '^x' },
      meta: { anyOf: [{ type: 'string' }, { type: 'object' }] },
      list: {
        type: 'array',
        maxItems: 2,
        uniqueItems: true,
        items: { type: 'string', format: 'binary', maxLength: 1 },
      },
      count: { type: 'integer' },
      size: { type: 'integer' },
    },
  }
  const document = {
    ...documentOf({ '/form': withBody('form', { required: true, content: { 'multipart/form-data': { schema } } }) }),
    components: { schemas: { Form } },
  }
  const app = await serveDocument(document, { handlers: { form: readParts } })
  const send = async (...all: [head: string, text: string][]) => {
    const headers = { 'content-type': multipart }
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/form', headers, payload: parts(...all) })
    return statusCode === 200 ? JSON.parse(body) : statusCode
  }
  const photo: [string, string] = ['name=photo', '']
  const meta: [string, string] = ['name=meta\r\nContent-Type: application/json', '{"a":1}']
  const count: [string, string] = ['name=count', '1']
  t.same(await send(photo, meta, count), [
    ['photo', 'text/plain', ''],
    ['meta', 'application/json', '{"a":1}'],
    ['count', 1],
  ])
  t.match(await send(photo, meta, count, ['name=list', 'ab'], ['name=list', 'ab']), [[], [], [], ['list'], ['list']])
  t.equal(await send(photo, count), 400, 'a required part')
  t.equal(await send(photo, meta, ['name=count', 'a']), 400, 'an integer')
  t.equal(await send(photo, meta), 400, 'oneOf of required parts')
  t.equal(await send(photo, meta, count, ['name=size', '1']), 400, 'oneOf of required parts')
  const lists = Array<[string, string]>(3).fill(['name=list', 'a'])
  t.equal(await send(photo, meta, count, ...lists), 400, 'maxItems')
})

t.test('a field that is not read as described is a text, or a list of texts', async (t) => {
  const form = 'application/x-www-form-urlencoded'
  const properties = { meta: { anyOf: [{ type: 'string' }, { type: 'object' }] }, count: { type: 'integer' } }
  const app = await serveDocument(
    documentOf({
      '/form': withBody('form', {
        required: true,
        content: { [form]: { schema: { properties, required: ['meta'] } } },
      }),
      '/any': withBody('any', { required: true, content: { [form]: { schema: { type: 'string' } } } }),
    }),
    { handlers: { form: readValue, any: readValue } },
  )
  const send = async (url: string, payload: string) => {
    const { statusCode, body } = await app.inject({ method: 'POST', url, headers: { 'content-type': form }, payload })
    return statusCode === 200 ? JSON.parse(body) : statusCode
  }
  t.same(await send('/form', 'meta=%7B%7D&count=1'), { meta: '{}', count: 1 })
  t.same(await send('/form', 'meta=a&meta=b'), { meta: ['a', 'b'] })
  t.equal(await send('/form', 'count=1'), 400)
  t.equal(await send('/form', 'meta=a&count=b'), 400)
  t.same(await send('/any', 'a=1&b=2'), { a: '1', b: '2' })
})

t.test('multipart bodies other than forms, other charsets and unnamed media types are bytes', async (t) => {
  const latin = 'text/csv; charset=iso-8859-1'
  const app = await serveDocument(
    documentOf({
      '/related': withBody('related', { content: { 'multipart/related': { schema: { type: 'object' } } } }),
      '/latin': withBody('latin', { content: { [latin]: {} } }),
      '/csv': withBody('csv', { content: { 'text/csv; charset=utf8': { schema: { type: 'string' } }, [latin]: {} } }),
      '/any': withBody('any', { required: true, content: {} }),
      '/image': withBody('image', { content: { 'image/*': { schema: { type: 'object' } } } }),
    }),
    { handlers: { related: readBytes, latin: readBytes, any: readBytes, image: readBytes, csv: csv as AnyHandler } },
  )
  async function csv({ body, contentType }: Input) {
    const read = typeof body === 'string' ? body : body && `bytes ${await text(body as AsyncIterable<Buffer>)}`
    return { status: 200, body: [contentType ?? null, read ?? null] }
  }
  const send = async (url: string, type: string, payload = 'a') => {
    const { statusCode, body } = await app.inject({ method: 'POST', url, headers: { 'content-type': type }, payload })
    return statusCode === 200 ? JSON.parse(body) : statusCode
  }
  t.same(await send('/related', 'multipart/related; boundary=x'), ['multipart/related; boundary=x', 'one', 'a'])
  t.same(await send('/latin', latin), [latin, 'one', 'a'])
  t.same(await send('/latin', 'Text/CSV;charset="ISO-8859-1"'), ['Text/CSV;charset="ISO-8859-1"', 'one', 'a'])
  for (const type of ['text/csv', 'text/csv;charset=utf-8']) t.equal(await send('/latin', type), 415, type)
  for (const type of ['text/csv', 'text/csv;charset=UTF-8', 'text/csv;charset="utf-8"'])
    t.same(await send('/csv', type), ['text/csv; charset=utf-8', 'a'], type)
  t.same(await send('/csv', latin), [latin, 'bytes a'])
  for (const charset of ['utf-16', 'latin1']) t.equal(await send('/csv', `text/csv; charset=${charset}`), 415, charset)
  t.same(await send('/any', 'application/anything'), ['application/anything', 'application/anything', 'a'])
  t.same(await send('/image', 'image/png', '{'), ['image/png', 'image/png', '{'])
  t.equal((await app.inject({ method: 'POST', url: '/any' })).statusCode, 415)
})

t.test('a response of parts has the boundary that the handler names', async (t) => {
  const content = { 'multipart/mixed': { schema: { type: 'string' } } }
  const several = { ...content, 'application/json': {}, 'multipart/related; boundary=x': {} }
  const outcomes: Record<string, unknown> = {}
  const app = await serveDocument(
    documentOf({
      '/parts': { get: { operationId: 'parts', responses: { 200: { description: 'Parts.', content } } } },
      '/several': { get: { operationId: 'several', responses: { 200: { description: 'Any.', content: several } } } },
    }),
    {
      handlers: {
        parts: (async () => ({ status: 200, ...Object(outcomes.parts) })) as AnyHandler,
        several: (async () => ({ status: 200, ...Object(outcomes.several) })) as AnyHandler,
      },
    },
  )
  const reply = async (id: string, contentType: string | undefined) => {
    outcomes[id] = { body: Buffer.from('--a--\r\n'), ...(contentType !== undefined && { contentType }) }
    const { statusCode, headers, body } = await app.inject({ method: 'GET', url: `/${id}` })
    return statusCode === 200 ? [headers['content-type'], body] : statusCode
  }
  for (const id of ['parts', 'several']) {
    t.same(await reply(id, 'multipart/mixed; boundary=a'), ['multipart/mixed; boundary=a', '--a--\r\n'])
    t.same(await reply(id, 'multipart/mixed;boundary="a"'), ['multipart/mixed;boundary="a"', '--a--\r\n'])
    for (const wrong of [
      'multipart/mixed',
      'multipart/mixed; a=b',
      'multipart/mixed; boundary=a\n',
      'multipart/digest; boundary=a',
    ])
      t.equal(await reply(id, wrong), 500, wrong)
  }
  t.equal(await reply('parts', undefined), 500)
  t.same(await reply('several', 'multipart/related; boundary=x'), ['multipart/related; boundary=x', '--a--\r\n'])
})

t.test('a header of a response that content describes is written as JSON, or as a string', async (t) => {
  const int64 = { type: 'integer', format: 'int64' }
  const headers = {
    'X-Json': {
      required: true,
      content: { 'application/json': { schema: { type: 'object', properties: { id: int64 } } } },
    },
    'X-Any': { content: { 'application/json': {} } },
    'X-Text': { content: { 'text/plain': { schema: { type: 'string', maxLength: 2 } } } },
    'X-Bytes': { content: { 'application/octet-stream': {} } },
    'X-None': { content: {} },
  }
  const outcome: { headers: object } = { headers: {} }
  const document = documentOf({
    '/a': { get: { operationId: 'a', responses: { 204: { description: 'Done.', headers } } } },
  })
  const app = await serveDocument(document, {
    handlers: { a: (async () => ({ status: 204, body: undefined, ...outcome })) as AnyHandler },
  })
  const reply = async (given: object) => {
    outcome.headers = given
    const { statusCode, headers } = await app.inject({ method: 'GET', url: '/a' })
    return statusCode === 204 ? headers : statusCode
  }
  t.match(
    await reply({
      'X-Json': { id: 9007199254740993n },
      'X-Any': ['é', null],
      'X-Text': 'a,',
      'X-Bytes': 'b',
      'X-None': 'c',
    }),
    { 'x-json': '{"id":9007199254740993}', 'x-any': '["\\u00e9",null]', 'x-text': 'a,', 'x-bytes': 'b', 'x-none': 'c' },
  )
  t.equal(await reply({ 'X-Json': { id: 'a' } }), 500)
  t.equal(await reply({ 'X-Json': {}, 'X-Text': 'abc' }), 500)
  t.equal(await reply({ 'X-Json': {}, 'X-Text': 1 }), 500)
  const { files } = await compileDocument(document, 'openapi.yaml')
  t.match(
    files['api.d.ts'],
    /"X-Json": \{\s*\/\*\* Format: int64 \*\/\s*id\?: bigint;\s*\};\s*"X-Any"\?: unknown;\s*"X-Text"\?: string;/,
  )
})

t.test('a GET has a body if the document describes one, and ignores it otherwise', async (t) => {
  const query = { type: 'object', required: ['size'], properties: { size: { type: 'integer' } } }
  const requestBody = { required: true, content: { 'application/json': { schema: query } } }
  const optional = { content: { 'application/json': { schema: query }, 'application/octet-stream': {} } }
  const reply = { responses: { 200: json } }
  const app = await serveDocument(
    documentOf({
      '/search': { get: { operationId: 'search', requestBody, ...reply } },
      '/maybe': { get: { operationId: 'maybe', requestBody: optional, ...reply } },
      '/plain': { get: { operationId: 'plain', ...reply } },
    }),
    {
      handlers: {
        search: readValue,
        maybe: (async ({ body, contentType }: Input) => ({
          status: 200,
          body: contentType === 'application/json' ? body : body === undefined ? 'none' : await text(body as never),
        })) as AnyHandler,
        plain: (async () => ({ status: 200, body: 'plain' })) as AnyHandler,
      },
      plugins: (app) => {
        app.get('/own', async ({ headers }) => ({ own: headers.host }))
      },
    },
  )
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const send = async (target: string, head: string[], body = '') => {
    const length = head.some((line) => line.startsWith('Transfer'))
      ? []
      : [`Content-Length: ${Buffer.byteLength(body)}`]
    const lines = [
      `${target} HTTP/1.1`,
      'Host: a',
      'Connection: close',
      ...(body === '' ? [] : length),
      ...head,
      '',
      body,
    ]
    const { closed } = await openSocket(t, port, lines.join('\r\n'))
    const [, status, answer = ''] = /^HTTP\/1\.1 (\d+).*?\r\n\r\n(.*)$/s.exec(await closed()) ?? []
    return `${status} ${answer}`
  }
  const type = 'Content-Type: application/json'
  t.equal(await send('GET /search', [type], '{"size":1}'), '200 {"size":1}')
  t.equal(
    await send('GET /search', [type, 'Transfer-Encoding: chunked'], 'a\r\n{"size":1}\r\n0\r\n\r\n'),
    '200 {"size":1}',
  )
  t.equal(await send('HEAD /search', [type], '{"size":1}'), '200 ')
  t.match(await send('HEAD /search', [type], '{"size":"1"}'), /^400 /)
  t.match(await send('GET /search', [type], '{"size":"1"}'), /^400 /)
  t.match(await send('GET /search', [type]), /^400 /)
  t.match(await send('GET /search', []), /^415 /)
  t.match(await send('GET /search', ['Content-Type: text/plain'], 'a'), /^415 /)
  t.equal(await send('GET /maybe', []), '200 "none"')
  t.equal(await send('GET /maybe', [type]), '200 "none"')
  t.equal(await send('GET /maybe', [type], '{"size":1}'), '200 {"size":1}')
  t.equal(await send('GET /maybe', ['Content-Type: application/octet-stream'], 'abc'), '200 "abc"')
  for (const head of [[], [type], ['Content-Type: text/plain'], ['Content-Type: none']]) {
    for (const body of ['', '{', 'a'.repeat(100_000)]) {
      t.equal(await send('GET /plain', head, body), '200 "plain"', `${head} ${body.length}`)
      t.equal(await send('HEAD /plain', head, body), '200 ', `${head} ${body.length}`)
      t.equal(await send('GET /own', head, body), '200 {"own":"a"}', `${head} ${body.length}`)
    }
    const chunked = [...head, 'Transfer-Encoding: chunked']
    t.equal(await send('GET /plain', chunked, '1\r\n{\r\n0\r\n\r\n'), '200 "plain"')
  }
})
