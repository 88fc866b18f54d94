import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { ContractTestError, contractTest, runContractTest } from '../../src/contract-test/contract-test.ts'
import { documentOf } from './test-application.ts'

const response = { description: 'ok', content: { 'application/json': { schema: { type: 'array' } } } }
const name = { required: true, content: { 'application/json': { schema: { type: 'string', maxLength: 9 } } } }
const withBody = documentOf({
  '/names': { post: { operationId: 'addName', requestBody: name, responses: { 200: response } } },
})
const document = documentOf({ '/names': { get: { operationId: 'getNames', responses: { 200: response } } } })

t.test(
  'an application and a URL are tested by a document, and failures are an error with their requests',
  async (t) => {
    const right = Fastify()
    right.get('/names', () => [])
    const faulty = Fastify()
    faulty.get('/names', () => ({}))
    t.teardown(() => Promise.all([right.close(), faulty.close()]))
    const url = await faulty.listen({ host: '127.0.0.1', port: 0 })
    t.match(await contractTest(right, { document }), {
      failures: [],
      end: 'complete',
      operations: [{ untested: undefined }],
    })
    const { failures, longestGap } = await runContractTest({ url }, { document })
    t.match(failures, [{ check: 'valid-body', operation: { operationId: 'getNames' } }])
    t.equal(longestGap, undefined, 'the event loop of another process is unknown')
    const error = await contractTest({ url }, { document }).catch((error) => error)
    t.ok(error instanceof ContractTestError)
    t.match(error.message, /^1 failure of the contract test\n\ngetNames: valid-body \(GET \/names, /)
    t.match(error.message, `${url}/names`)
    t.equal(error.result.failures.length, 1)
  },
)

/** Returns an application that takes bodies, and the number of connections that it got. */
function takingNames(t: Test) {
  const app = Fastify({ ajv: { customOptions: { coerceTypes: false } } })
  let connections = 0
  app.post('/names', { schema: { body: { type: 'string', maxLength: 9 } } }, () => [])
  app.server.on('connection', () => connections++)
  t.teardown(() => app.close())
  return { app, connections: () => connections }
}

const options = { document: withBody, requests: 60 }

t.test('an application can be tested again', async (t) => {
  const { app, connections } = takingNames(t)
  for (const run of [1, 2]) {
    t.match(await contractTest(app, options), { failures: [] }, `run ${run}`)
    t.notOk(app.server.listening)
  }
  t.equal(connections(), 1, 'Fastify listens only once')
})

t.test('an application that listens gets its cut request there, and listens after the test', async (t) => {
  const { app, connections } = takingNames(t)
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.match(await contractTest(app, options), { failures: [] })
  t.equal(connections(), 1)
  t.ok(app.server.listening)
})
