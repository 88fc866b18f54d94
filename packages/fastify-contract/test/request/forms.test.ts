import type { AddressInfo } from 'node:net'
import type { Document } from 'fastify-contract-cli/testing'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import type { FormField } from '../../src/contract/routes.ts'
import { bodyMemory } from '../../src/http/body-memory.ts'
import { formReader } from '../../src/request/form-body.ts'
import type { AnyHandler } from '../../src/routes/request-steps.ts'
import { type Served, serveDocument } from '../support/serve-document.ts'

const field = (more: Partial<FormField>): FormField => ({
  ...{ name: 'c', key: 'c', kind: 'object', style: 'form', explode: true, types: [], properties: { a: ['string'] } },
  ...more,
})

const read = (texts: Record<string, string[]>, ...fields: FormField[]) =>
  formReader({ fields, otherTypes: [] }, { part: 'body', decode: String })({ texts, length: 0 }).value

t.test('a name with brackets belongs to the field before them, and without such a field to the form', async (t) => {
  const nested = field({ kind: 'nested', places: [{ types: ['object'] }] })
  t.same(read({ 'c[a]': ['1'] }, nested), { c: { a: '1' } })
  t.same(read({ 'd[a]': ['1'], 'c]': ['2'] }, nested), { 'd[a]': '1', 'c]': '2' })
  t.same(read({ c: ['1'] }, nested), { c: '1' })
  for (const name of ['c[a', 'c[', 'c[a]b', 'c[[a]]', 'c[a]]'])
    t.throws(
      () => read({ [name]: ['1'] }, nested),
      { message: 'body/c must have balanced brackets in its names' },
      name,
    )
})

t.test('a name of another field is not read twice', async (t) => {
  t.same(read({ c: ['a,1'] }, field({ explode: false })), { c: { a: '1' } })
  t.same(read({ a: ['1'], b: ['2'] }, field({})), { c: { a: '1' }, b: '2' })
  t.same(read({ c: ['1'] }, field({ kind: 'scalar' })), { c: '1' })
})

/** Returns a document with a form of two fields, whose schema also has the given keywords. */
const documentOf = (more: object, components: object = {}) =>
  ({
    openapi: '3.1.0',
    info: { title: 'Forms', version: '1' },
    paths: {
      '/a': {
        post: {
          operationId: 'a',
          requestBody: {
            content: {
              'multipart/form-data': {
                schema: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, ...more },
              },
            },
          },
          responses: { 200: { content: { 'application/json': {} } } },
        },
      },
    },
    components,
  }) as unknown as Document

type Parts = AsyncIterable<{ name: string }>

async function serve(t: Test, document: Document, options: Served = {}, wait = Promise.resolve()) {
  const handler = async ({ body }: { body: Parts }) => {
    let count = 0
    for await (const _part of body) count++
    await wait
    return { status: 200, body: count }
  }
  const app = await serveDocument(document, { handlers: { a: handler as unknown as AnyHandler }, ...options })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  return { limit: app.initialConfig.bodyLimit as number, port: (app.server.address() as AddressInfo).port }
}

const head = (framing: string) =>
  `POST /a HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\n${framing}\r\n\r\n`
const chunked = head('Transfer-Encoding: chunked')
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const post = (body: string) => `${head(`Content-Length: ${body.length}`)}${body}`
const part = (name: string, text = '') => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`
const end = '--b--\r\n'
const names = (count: number) => Array.from({ length: count }, (_, n) => part(`${n}${'x'.repeat(3_000)}`)).join('')

t.test('names of undeclared parts count toward the field limit if the schema may reject them', async (t) => {
  const keeping: [more: object, components?: object][] = [
    [{ maxProperties: 5_000 }],
    [{ additionalProperties: false }],
    [{ allOf: [{ $ref: '#/components/schemas/Named' }] }, { schemas: { Named: { propertyNames: { minLength: 1 } } } }],
    [{ allOf: [{ required: ['other'] }] }],
  ]
  for (const [more, components] of keeping) {
    const { port, limit } = await serve(t, documentOf(more, components))
    const many = names(Math.ceil(limit / 3_000))
    const refused = await openSocket(t, port, post(many + end))
    t.match(await refused.receives(/\}$/), `the fields of the form have more than ${limit} bytes`)
    t.match(refused.received(), /^HTTP\/1.1 413 /)
  }
})

t.test('names that the schema cannot reject are not kept in memory', async (t) => {
  const open: [more: object, components?: object][] = [
    [{ description: 'Takes other parts', required: ['a'], additionalProperties: true }],
    [
      { allOf: [true, { $ref: '#/components/schemas/Tree' }] },
      { schemas: { Tree: { type: 'object', title: 'A tree' } } },
    ],
  ]
  for (const [more, components] of open) {
    const memory = bodyMemory(100_000, () => {})
    let go = () => {}
    const waiting = new Promise<void>((resolve) => {
      go = resolve
    })
    const { port, limit } = await serve(t, documentOf(more, components), { memory }, waiting)
    const { receives } = await openSocket(t, port, post(part('a', 'x') + names(Math.ceil(limit / 3_000)) + end))
    t.equal(memory.checkFits(100_000), undefined)
    go()
    await receives(/\r\n\r\n1$/)
  }
})

t.test('names that are kept in memory count toward the memory limit of bodies', async (t) => {
  const memory = bodyMemory(100_000, () => {})
  let go = () => {}
  const waiting = new Promise<void>((resolve) => {
    go = resolve
  })
  const { port } = await serve(t, documentOf({ maxProperties: 100 }), { memory }, waiting)
  // A repeated name is stored once.
  const { receives } = await openSocket(t, port, post(names(4).repeat(2) + end))
  await until(() => memory.checkFits(1_100) !== undefined, 'the names to be counted')
  go()
  await receives(/\r\n\r\n0$/)
  await until(() => memory.checkFits(100_000) === undefined, 'the memory to be given back')
})

t.test('a lone form is never rejected for the memory of its own fields', async (t) => {
  const { port } = await serve(t, documentOf({}), { memory: bodyMemory(100_000, () => {}) })
  const { receives } = await openSocket(
    t,
    port,
    post(part('a', 'x'.repeat(20_000)) + part('b', 'x'.repeat(20_000)) + end),
  )
  t.match(await receives(/\r\n\r\n.+$/s), /^HTTP\/1.1 200 .*\r\n\r\n2$/s)
})

t.test('a chunked form whose last chunk comes late keeps its connection', async (t) => {
  const { port } = await serve(t, documentOf({}))
  const { socket, receives, received } = await openSocket(t, port, chunked + chunk(part('a', '1') + end))
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(received(), '')
  socket.write(`0\r\n\r\n${post(end)}`)
  t.match(await receives(/\r\n\r\n1.*\r\n\r\n0$/s), /^(?!.*connection: close)/is)
})

t.test('bytes after the last boundary count toward the upload limit', async (t) => {
  const limits = { upload: 1_000, formFields: 5 }
  const form = part('a', '1') + end
  for (const [more, status] of [
    [1_000 - form.length, 200],
    [1_001 - form.length, 413],
  ] as const) {
    const { port } = await serve(t, documentOf({}), { limits })
    const { receives } = await openSocket(t, port, `${chunked}${chunk(form)}${chunk('x'.repeat(more))}0\r\n\r\n`)
    t.match(await receives(/\r\n\r\n.+$/s), new RegExp(`^HTTP/1.1 ${status} `))
  }
})

const content = {
  'text/plain': { schema: { type: 'string' } },
  'image/png': {},
  'application/json': {},
  'application/x-www-form-urlencoded': {
    schema: { type: 'object', required: ['a'], properties: { a: { type: 'string' } } },
  },
  'multipart/form-data': { schema: { type: 'object', properties: { a: { type: 'string' } } } },
}
const operation = (operationId: string, required: boolean) => ({
  post: {
    operationId,
    requestBody: { required, content },
    responses: { 200: { content: { 'application/json': {} } } },
  },
})
const document = {
  openapi: '3.1.0',
  info: { title: 'Bodies', version: '1' },
  paths: { '/required': operation('required', true), '/optional': operation('optional', false) },
} as unknown as Document

/** Sends the header section of a request and returns the response. */
async function send(path: string, ...headers: string[]): Promise<string> {
  const handler: unknown = async ({ body }: { body: unknown }) => {
    let bytes = 0
    if (typeof body === 'object') for await (const chunk of body as AsyncIterable<Buffer>) bytes += chunk.length
    return { status: 200, body: bytes }
  }
  const app = await serveDocument(document, {
    handlers: { required: handler as AnyHandler, optional: handler as AnyHandler },
  })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const { receives } = await openSocket(
    t,
    port,
    `${[`POST ${path} HTTP/1.1`, 'Host: a', ...headers].join('\r\n')}\r\n\r\n`,
  )
  return await receives(/\r\n\r\n.+$/s)
}

const typed = (mediaType: string) => `Content-Type: ${mediaType}${mediaType.startsWith('multi') ? '; boundary=b' : ''}`

t.test('a missing required body is rejected, unless it is a text, which may be empty', async (t) => {
  for (const mediaType of Object.keys(content))
    t.match(
      await send('/required', typed(mediaType)),
      mediaType === 'text/plain' ? /^HTTP\/1.1 200 / : /^HTTP\/1.1 400 /,
      mediaType,
    )
  t.match(await send('/required', typed('image/png')), /"error":40003,"message":"the body is missing"/)
})

t.test('empty text and empty bytes are a body', async (t) => {
  for (const mediaType of ['text/plain', 'image/png']) {
    t.match(await send('/required', typed(mediaType), 'Content-Length: 0'), /^HTTP\/1.1 200 /, mediaType)
    const chunked = await send('/required', typed(mediaType), 'Transfer-Encoding: chunked', '', '0')
    t.match(chunked, /^HTTP\/1.1 200 /, mediaType)
    t.match(await send('/optional', typed(mediaType)), /^HTTP\/1.1 200 /, mediaType)
  }
})

t.test('a 415 mentions the charset if the request names one', async (t) => {
  const rejection = (answer: string) => /"message":"(.*?)"/.exec(answer)?.[1]
  const types = Object.keys(content).join(' or ')
  t.equal(rejection(await send('/required', 'Content-Type: image/gif')), `the media type must be ${types}`)
  t.equal(rejection(await send('/required')), `the media type must be ${types}`)
  t.equal(
    rejection(await send('/required', 'Content-Type: text/plain; charset=latin1')),
    `the media type must be ${types}, with no charset but utf-8`,
  )
})
