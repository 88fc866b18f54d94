import { setTimeout as sleep } from 'node:timers/promises'
import { createServer } from 'fastify-contract'
import { transactionalPostgresKeys } from 'fastify-contract/idempotency'
import { compileRoutes, type Document } from 'fastify-contract-cli/testing'
import pg from 'pg'
import t from 'tap'
import { testDatabase } from '../../scripts/postgres/test-database.ts'

const document = {
  openapi: '3.1.0',
  info: { title: 'Slow', version: '1' },
  paths: {
    '/a': {
      post: {
        operationId: 'write',
        parameters: [{ name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string' } }],
        responses: { 204: {} },
      },
    },
  },
} as unknown as Document

t.test('a handler that is slower than the lease of its transaction gets 503, and its retry runs', async (t) => {
  const pool = new pg.Pool({ connectionString: await testDatabase(t) })
  t.teardown(() => pool.end())
  const keys = transactionalPostgresKeys(pool, { lease: 100 })
  let pause = 500
  const app = createServer({
    contract: { routes: compileRoutes(document) },
    handlers: {
      async write(_input: never, request: never) {
        await sleep(pause)
        await keys.transactionOf(request)?.query('SELECT')
        return { status: 204, body: undefined }
      },
    },
    verifiers: {},
    errorBody: ({ error }) => ({ contentType: 'application/json', body: { error } }),
    limits: { eventLoopDelay: 60_000 },
    idempotency: { store: keys },
  })
  t.teardown(() => app.close())
  const statusOf = async () =>
    (await app.inject({ url: '/a', method: 'POST', headers: { 'idempotency-key': 'a' } })).statusCode
  t.equal(await statusOf(), 503)
  pause = 0
  t.equal(await statusOf(), 204)
})
