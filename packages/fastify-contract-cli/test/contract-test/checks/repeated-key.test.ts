import { Readable } from 'node:stream'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import t, { type Test } from 'tap'
import type { Tools } from '../../../src/contract-test/checks/check.ts'
import { repeatedKey } from '../../../src/contract-test/checks/repeated-key.ts'
import type { TestRequest } from '../../../src/contract-test/exchange.ts'
import { serveDocument } from '../../support/serve-document.ts'
import { documentOf, testApplication } from '../test-application.ts'

const id = { type: 'integer' }
const thing = { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 20 }, id } }
const json = { description: 'ok', content: { 'application/json': { schema: thing } } }
const problem = { description: 'no', content: { 'application/json': { schema: { type: 'object' } } } }

/** A document with an operation that has idempotency keys. */
const documentWith = (schema: object) =>
  documentOf({
    '/things': {
      post: {
        operationId: 'make',
        parameters: [{ name: 'Idempotency-Key', in: 'header', required: true, schema }],
        requestBody: { required: true, content: { 'application/json': { schema: thing } } },
        responses: { 201: json, default: problem },
      },
    },
  })

const document = documentWith({ type: 'string', minLength: 1 })

/** Returns a server of the engine. */
async function ownApplication(options: object = {}, of = document): Promise<FastifyInstance> {
  let last = 0
  const make = async ({ body }: { body: { name: string } }) => ({ status: 201, body: { name: body.name, id: ++last } })
  return await serveDocument(of, { handlers: { make: make as never }, ...options })
}

/** Returns the failures of the check, and the statuses of all failures. */
async function failuresOf(t: Test, app: FastifyInstance, isOwn: boolean, of = document) {
  t.teardown(() => app.close())
  const { failures } = await testApplication(app, of, { requests: 100, isOwn })
  return failures.map(({ check, expected }) => `${check}: ${expected}`)
}

t.test('a server that keeps responses for their keys passes repeated-key', async (t) => {
  t.same(await failuresOf(t, await ownApplication(), true), [])
  t.same(await failuresOf(t, await ownApplication(), false), [])
})

t.test('a server that ignores keys fails repeated-key', async (t) => {
  const failures = await failuresOf(t, await ownApplication({ idempotency: false }), false)
  t.match(failures, [/^repeated-key: the response to the first request with the key: body\/id/])
})

t.test('a server of this engine that does not mark the response fails repeated-key', async (t) => {
  const app = Fastify()
  app.post('/things', (request, reply) => {
    const { name } = Object(request.body) as { name?: string }
    return reply.code(typeof name === 'string' && name.length <= 20 ? 201 : 400).send({ name })
  })
  t.ok((await failuresOf(t, app, true)).includes('repeated-key: the header Idempotent-Replayed: true'))
})

t.test('keys of a pattern are sent as they are generated, and are not repeated', async (t) => {
  const patterned = documentWith({ type: 'string', pattern: '^[a-c]{9}$' })
  t.notMatch(await failuresOf(t, await ownApplication({}, patterned), true, patterned), ['repeated-key'])
})

/** Returns the failures of repeated-key for an application that responds to each first request as a function does. */
async function failuresOfFirst(t: Test, respond: (reply: FastifyReply, count: number) => unknown) {
  const app = Fastify()
  let count = 0
  app.post('/things', (_, reply) => respond(reply, ++count))
  const failures = await failuresOf(t, app, false)
  return failures.filter((failure) => failure.startsWith('repeated-key'))
}

t.test('a response that a server need not keep is not compared with that of a repeated key', async (t) => {
  const named = (count: number) => ({ name: 'a', id: count })
  t.match(await failuresOfFirst(t, (reply, count) => reply.code(201).send(named(count))), [/body\/id/])
  const stream = (count: number) => Readable.from([JSON.stringify(named(count))])
  const streamed = (reply: FastifyReply, count: number) => reply.code(201).type('application/json').send(stream(count))
  t.same(await failuresOfFirst(t, streamed), [])
  const large = (count: number) => ({ ...named(count), more: 'x'.repeat(2 ** 20) })
  t.same(await failuresOfFirst(t, (reply, count) => reply.code(201).send(large(count))), [])
})

t.test('a rejection that a transaction rolled back is not compared', async (t) => {
  const request = { headers: { 'idempotency-key': 'one' }, method: 'POST' }
  const operation = { method: 'POST', parameters: [{ in: 'header', name: 'Idempotency-Key', schema: {} }] }
  let count = 0
  const send = async () => ({
    status: 409,
    headers: { 'content-length': '1' },
    body: Buffer.from(String(++count)),
    milliseconds: 0,
  })
  const exchange = { request: { ...request, operation } as unknown as TestRequest, response: await send() }
  t.same(await repeatedKey.probe(exchange, { contract: { isOwn: true }, send } as unknown as Tools), [])
})
