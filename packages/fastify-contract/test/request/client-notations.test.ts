import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Document } from 'fastify-contract-cli/testing'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import t, { type Test } from 'tap'
import { bearer } from '../../src/auth/verifiers.ts'
import { createServer } from '../../src/routes/create-server.ts'
import { compileRoutes, errorBody, serveDocument } from '../support/serve-document.ts'

/*
 * Sends each request of docs/client-notations.md. A row of the page has code spans with requests, the value that the handler
 * gets, and code spans with requests that are rejected.
 */

type Row = { title: string; accepted: string[]; value: string | undefined; rejected: [status: number, text: string][] }

const page = readFileSync(join(import.meta.dirname, '../../docs/client-notations.md'), 'utf8')
const codeSpans = (text: string) => Array.from(text.matchAll(/`([^`]+)`/g), ([, span = '']) => span)

/** Returns the requests of a column. A number before them is their status. */
function rejectedIn(text: string): Row['rejected'] {
  return Array.from(text.matchAll(/(?:^|; ?|\s)(?:(\d{3}): )?((?:`[^`]+` ?)+)/g)).flatMap(
    ([, status = '400', spans = '']) => codeSpans(spans).map((span): [number, string] => [Number(status), span]),
  )
}

function rowsOf(section: string): Row[] {
  const [, text = ''] = page.split(`## ${section}\n`)
  const lines = (text.split('\n## ')[0] as string)
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
  return lines.map((line) => {
    const [, title = '', accepted = '', value = '', , , rejected = ''] = line
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim())
    const unescaped = (cell: string) => cell.replaceAll('\\|', '|')
    return {
      title,
      accepted: codeSpans(unescaped(accepted)),
      value: codeSpans(value)[0] ?? value,
      rejected: rejectedIn(unescaped(rejected)),
    }
  })
}

const integer = { type: 'integer' }
const string = { type: 'string' }
const flat = { type: 'object', properties: { a: integer, s: string } }
const integers = { type: 'array', items: integer }
const strings = { type: 'array', items: string }
const inQuery = (schema: object, more: object = {}) => ({ name: 'v', in: 'query', schema, ...more })
const inCookie = (schema: object) => ({ name: 'v', in: 'cookie', explode: false, schema })

/** The parameter of each row. */
const parameters: Record<string, object> = {
  'plain list in a query': inQuery(integers, { explode: false }),
  'plain list of strings': inQuery(
    { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' } },
    { explode: false },
  ),
  'list of strings in a query': inQuery(strings, { explode: false }),
  'list in a path': { name: 'v', in: 'path', required: true, schema: integers },
  'list in `spaceDelimited`': inQuery(strings, { style: 'spaceDelimited', explode: false }),
  'list in `pipeDelimited`': inQuery(strings, { style: 'pipeDelimited', explode: false }),
  'list in a header': { name: 'X-V', in: 'header', schema: integers },
  'list in a cookie': inCookie(integers),
  'list of strings in a cookie': inCookie(strings),
  'object in `label`': { name: 'v', in: 'path', required: true, style: 'label', schema: flat },
  'object in a header': { name: 'X-V', in: 'header', schema: flat },
  'object in `spaceDelimited`': inQuery(flat, { style: 'spaceDelimited', explode: false }),
  'object in `form`, not exploded': inQuery(flat, { explode: false }),
  'object in `form`, exploded': inQuery(flat),
  'object in `deepObject`': inQuery(flat, { style: 'deepObject' }),
  'list in `deepObject`': inQuery({ type: 'object', properties: { k: strings } }, { style: 'deepObject' }),
  'object in a cookie, not exploded': inCookie(flat),
  boolean: inQuery({ type: 'boolean' }),
  'integer or null': inQuery({ type: ['integer', 'null'] }),
  'string or null': inQuery({ type: ['string', 'null'] }),
  integer: inQuery(integer),
  'date-time': inQuery({ type: 'string', format: 'date-time' }),
  'date-time in UTC': inQuery({ type: 'string', format: 'date-time' }),
  UUID: inQuery({ type: 'string', format: 'uuid' }),
  'list of date-times': inQuery({ type: 'array', items: { type: 'string', format: 'date-time' } }),
  'string with a percent sign in a cookie': { name: 'v', in: 'cookie', schema: string },
  'string with a comma in a cookie': { name: 'v', in: 'cookie', schema: string },
  'string in a cookie': { name: 'v', in: 'cookie', schema: string },
}

const object = { type: 'object', properties: { a: integer } }
const json = { 'application/json': { schema: object } }
const urlencoded = (properties: object) => ({
  'application/x-www-form-urlencoded': { schema: { type: 'object', properties } },
})
const file = { type: 'string', contentMediaType: 'application/octet-stream' }
const formOfParts = {
  type: 'object',
  properties: { o: object, s: string, v: integers, f: { type: 'array', items: file } },
  additionalProperties: false,
}
const multipart = { 'multipart/form-data': { schema: formOfParts } }

/** The body of each row, and the headers and the text of its requests. */
const bodies: Record<
  string,
  { content: object; isRequired?: true; write: (span: string) => [head: string, body?: string] }
> = {
  JSON: { content: json, write: (type) => [`Content-Type: ${type}`, '{"a":1}'] },
  'optional JSON, without content': { content: json, write: (type) => [`Content-Type: ${type}`, ''] },
  'text, without content': {
    content: { 'text/plain': { schema: string } },
    isRequired: true,
    write: (type) => [`Content-Type: ${type}`],
  },
  'URL-encoded list': { content: urlencoded({ v: integers }), write: writeForm },
  'URL-encoded object': { content: urlencoded({ o: object }), write: writeForm },
  'part that is JSON': { content: multipart, write: writePart },
  'text part': { content: multipart, write: writePart },
  'part that is an item': { content: multipart, write: writePart },
  'part that is a file': { content: multipart, write: writePart },
}

function writeForm(body: string): [string, string] {
  return ['Content-Type: application/x-www-form-urlencoded', body]
}

function writePart(span: string): [string, string] {
  const [head = '', text = ''] = span.replaceAll('\\r\\n', '\r\n').split(' => ')
  const part = `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n--b--\r\n`
  return ['Content-Type: multipart/form-data; boundary=b', part]
}

const responses = { 200: { description: 'What the handler got.', content: { 'application/json': { schema: {} } } } }
const text = { 200: { description: 'The text.', content: { 'application/json': { schema: {} }, 'text/csv': {} } } }

const paths: Record<string, object> = {
  '/text/{text}': {
    get: {
      operationId: 'text',
      parameters: [{ name: 'text', in: 'path', required: true, schema: string }],
      responses: text,
    },
    post: {
      operationId: 'post',
      parameters: [{ name: 'text', in: 'path', required: true, schema: string }],
      requestBody: { required: true, content: json },
      responses,
    },
  },
  '/secret': { get: { operationId: 'secret', security: [{ bearer: [] }], responses } },
}
const handlers: Record<string, (input: Input) => Promise<object>> = {}
type Input = { body: unknown } & Record<'path' | 'query' | 'header' | 'cookie', Record<string, unknown>>

async function respond({ path, query, header, cookie, body }: Input): Promise<object> {
  if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body)) {
    const values = { ...path, ...query, ...header, ...cookie }
    return { status: 200, contentType: 'application/json', body: body ?? Object.values(values)[0] ?? null }
  }
  const parts: object[] = []
  for await (const part of body as AsyncIterable<{ name: string; filename?: string; value: unknown }>)
    parts.push(part.filename === undefined ? part : { name: part.name, filename: part.filename })
  return { status: 200, body: parts[0] }
}

for (const [index, parameter] of Object.values(parameters).entries())
  paths[`/p${index}${'required' in parameter ? '/{v}' : ''}`] = {
    get: { operationId: `p${index}`, parameters: [parameter], responses },
  }
for (const [index, { content, isRequired = false }] of Object.values(bodies).entries())
  paths[`/b${index}`] = {
    post: { operationId: `b${index}`, requestBody: { content, required: isRequired }, responses },
  }
for (const item of Object.values(paths))
  for (const { operationId } of Object.values(item)) handlers[operationId] = respond

const document = {
  openapi: '3.1.0',
  info: { title: 'Notations', version: '1.0.0' },
  paths,
  components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
} as unknown as Document

/** Serves the document. Returns a function that sends a request and returns its status and its value. */
async function serve(t: Test) {
  const app = createServer({
    contract: { routes: compileRoutes(document) },
    handlers: handlers as never,
    verifiers: { bearer: bearer((token) => (token === 'good' ? { name: 'one', scopes: [] } : undefined)) },
    errorBody: errorBody as never,
    limits: { eventLoopDelay: 60_000, authFailures: 0 },
  })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return async (line: string, head: string, body?: string): Promise<[status: number, value: unknown]> => {
    const bytes = body === undefined ? undefined : bytesOf(body)
    const headers = [
      'Host: a',
      ...(/^connection:/im.test(head) ? [] : ['Connection: close']),
      ...(bytes === undefined ? [] : [`Content-Length: ${bytes.length}`]),
      ...(head === '' ? [] : [head.replaceAll('\\r\\n', '\r\n')]),
    ]
    const sent = Buffer.from(`${line} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`)
    const socket = await openSocket(t, port, Buffer.concat([sent, bytes ?? Buffer.alloc(0)]))
    const received = await socket.receives(/^(?:HTTP\/1.1 100.*\r\n\r\n)?HTTP\/1.1 (?!100)\d{3}(?:.*\r\n)+\r\n[\s\S]/)
    const [, status, content = ''] =
      /^(?:HTTP\/1.1 100.*\r\n\r\n)?HTTP\/1.1 (\d+)[\s\S]*?\r\n\r\n([\s\S]*)$/.exec(received) ?? []
    return [Number(status), content === '' ? undefined : JSON.parse(Buffer.from(content, 'latin1').toString())]
  }
}

/** Returns the bytes of a body: UTF-8, and those that are written as in `\xFC`. */
const bytesOf = (body: string): Buffer =>
  Buffer.from(
    Buffer.from(body)
      .toString('latin1')
      .replace(/\\x([\dA-F]{2})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16))),
    'latin1',
  )

type Send = Awaited<ReturnType<typeof serve>>

async function checkRow(t: Test, row: Row, send: (span: string) => ReturnType<Send>): Promise<void> {
  const accept = async (span: string) =>
    t.same(await send(span), [200, JSON.parse(row.value || 'null')], `${row.title}: ${span}`)
  const reject = async ([status, span]: Row['rejected'][number]) =>
    t.equal((await send(span))[0], status, `${row.title}: ${span} is rejected`)
  await Promise.all([...row.accepted.map(accept), ...row.rejected.map(reject)])
  t.ok(row.accepted.length > 0, `${row.title} has requests`)
}

for (const section of ['Lists and objects', 'Values'])
  t.test(`parameters: ${section}`, async (t) => {
    const send = await serve(t)
    const names = Object.keys(parameters)
    for (const row of rowsOf(section)) {
      const index = names.indexOf(row.title)
      t.not(index, -1, `${row.title} is tested`)
      await checkRow(t, row, (span) => {
        const isHeader = /^[\w-]+: /.test(span)
        return send(`GET /p${index}${isHeader ? '' : span}`, isHeader ? span : '')
      })
    }
  })

t.test('bodies', async (t) => {
  const send = await serve(t)
  const names = Object.keys(bodies)
  for (const row of rowsOf('Bodies')) {
    const index = names.indexOf(row.title)
    t.not(index, -1, `${row.title} is tested`)
    await checkRow(t, row, (span) =>
      send(`POST /b${index}`, ...(bodies[row.title] as (typeof bodies)[string]).write(span)),
    )
  }
})

t.test('connections and headers', async (t) => {
  const send = await serve(t)
  for (const { title, accepted, rejected } of rowsOf('Connections and headers')) {
    const sent = (span: string) => {
      if (title === 'a path') return send(`GET ${span}`, '')
      if (title === 'an expectation')
        return send('POST /text/a', `Content-Type: application/json\r\n${span}`, '{"a":1}')
      return send(title === 'a bearer token' ? 'GET /secret' : 'GET /text/a', span)
    }
    for (const span of accepted) t.equal((await sent(span))[0], 200, `${title}: ${span}`)
    for (const [status, span] of rejected) t.equal((await sent(span))[0], status, `${title}: ${span}`)
  }
})

t.test('a text that only resembles JSON keeps its reading', async (t) => {
  const closed = { ...flat, additionalProperties: false }
  const grid = { type: 'array', items: integers }
  const described = [
    { name: 'X-V', in: 'header', schema: closed },
    { name: 'map', in: 'query', style: 'deepObject', schema: { type: 'object', additionalProperties: string } },
    inQuery({ type: 'object', properties: { k: strings, grid, any: { type: 'array' } } }, { style: 'deepObject' }),
  ]
  const item = { get: { operationId: 'read', parameters: described, responses } }
  const app = await serveDocument({ ...document, paths: { '/read': item } } as never, {
    handlers: { read: async ({ query, header }: Input) => ({ status: 200, body: { ...query, ...header } }) } as never,
  })
  const read = async (query: string, headers = {}) => (await app.inject({ url: `/read${query}`, headers })).json()
  t.same(await read('?map.a=1'), {}, 'a name with a dot counts only for a property that the schema names')
  t.same(await read('?v[k]=[a'), { v: { k: ['[a'] } })
  t.same(await read('?v[k]=%5Ba%5D'), { v: { k: ['[a]'] } })
  t.same(await read('?v[any]=[1]'), { v: { any: ['[1]'] } }, 'an item may be any text')
  t.same(await read('?v[grid]=[1]'), { v: { grid: [[1]] } }, 'a list of lists has one text for each list')
  t.match(await read('', { 'x-v': '{"a":1,"s"' }), {
    message: /^header must NOT have additional properties|^header\/X-V must NOT/,
  })
})

t.test('each row of the page is tested', async (t) => {
  const titles = ['Lists and objects', 'Values', 'Bodies'].flatMap(rowsOf).map(({ title }) => title)
  t.same(titles.sort(), [...Object.keys(parameters), ...Object.keys(bodies)].sort())
})
