import type { RouteOptions } from 'fastify'
import type { Document } from 'fastify-contract-cli/testing'
import t, { type Test } from 'tap'
import type { AnyHandler } from '../../src/routes/request-steps.ts'
import { serveDocument } from '../support/serve-document.ts'

const text = { schema: { type: 'string' } }
const content = { 'application/json': { schema: { type: 'object', properties: { a: { type: 'string' } } } } }
const key = { name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string' } }
const headers = { ETag: text }

const document = {
  openapi: '3.1.0',
  info: { title: 'Things', version: '1' },
  paths: {
    '/plain': {
      post: { operationId: 'postPlain', requestBody: { content }, responses: { 201: { content } } },
      get: { operationId: 'getPlain', responses: { 200: { content } } },
    },
    '/keyed': {
      post: {
        operationId: 'postKeyed',
        parameters: [key],
        requestBody: { content },
        responses: { 201: { content } },
      },
    },
    '/conditional': {
      get: { operationId: 'getConditional', responses: { 200: { headers, content }, 304: {} } },
      put: {
        operationId: 'putConditional',
        requestBody: { content },
        responses: { 200: { headers, content }, 412: {} },
      },
    },
  },
} as unknown as Document

/** The directories and files that only operations with keys or preconditions need. */
const further = /\/src\/(idempotency|preconditions)\/|\/response\/conditional-response\.ts/

// The default is 10 frames.
Error.stackTraceLimit = 100

/** Serves the document; returns the names of the steps by operation, and what runs around a handler and its response. */
async function serve(t: Test) {
  const routes: RouteOptions[] = []
  const stacks: string[] = []
  const note = () => void stacks.push(String(new Error('stack').stack))
  const handle =
    (status: number, hasTag = false) =>
    async (input: { preconditions?: { check(state: object): object } }) => {
      note()
      const checked = input.preconditions?.check({ etag: '"v1"' })
      const body = Object.defineProperty({}, 'a', {
        enumerable: true,
        get() {
          note()
          return 'text'
        },
      })
      return { status, body, ...(hasTag && { headers: { ETag: '"v1"' } }), ...(checked && { checked }) }
    }
  const app = await serveDocument(document, {
    handlers: {
      postPlain: handle(201),
      postKeyed: handle(201),
      getPlain: handle(200),
      getConditional: handle(200, true),
      putConditional: handle(200, true),
    } as unknown as Record<string, AnyHandler>,
    plugins: (app) => void app.addHook('onRoute', (route) => void routes.push(route)),
  })
  t.teardown(() => app.close())
  await app.ready()
  const steps = Object.fromEntries(
    routes.map(({ schema, onRequest = [], preValidation = [], preHandler = [] }) => [
      (schema as { operationId: string }).operationId,
      [onRequest, preValidation, preHandler].flat().map(({ name }) => name),
    ]),
  )
  return {
    steps,
    /** Sends a request and returns the lines of the stacks that are of the further files. */
    async furtherOf(method: 'GET' | 'POST' | 'PUT', url: string) {
      stacks.length = 0
      const payload = method === 'GET' ? {} : { payload: '{}' }
      const sent = { 'content-type': 'application/json', 'idempotency-key': 'k' }
      const { statusCode, body } = await app.inject({ method, url, headers: method === 'GET' ? {} : sent, ...payload })
      t.ok(statusCode < 300, `${method} ${url} succeeds: ${body}`)
      t.ok(stacks.length >= 2, 'the handler ran, and its response was serialized')
      return stacks.flatMap((stack) => stack.split('\n').filter((line) => further.test(line)))
    },
  }
}

t.test('an operation that declares neither keys nor preconditions has no step for them', async (t) => {
  const { steps } = await serve(t)
  t.same(steps.postPlain, ['authenticate', 'guard'])
  t.same(steps.getPlain, ['authenticate'])
  t.same(steps.postKeyed, ['authenticate', 'guard', 'prepareKey'])
  t.same(steps.getConditional, ['authenticate', 'guard'])
  t.same(steps.putConditional, ['authenticate', 'guard', 'guard'])
})

t.test('its handler and its response run no code of keys or preconditions', async (t) => {
  const { furtherOf } = await serve(t)
  t.same(await furtherOf('POST', '/plain'), [])
  t.same(await furtherOf('GET', '/plain'), [])
  for (const [method, url] of [
    ['POST', '/keyed'],
    ['GET', '/conditional'],
    ['PUT', '/conditional'],
  ] as const)
    t.not((await furtherOf(method, url)).length, 0, `the control: ${method} ${url}`)
})
