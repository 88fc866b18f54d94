import Fastify from 'fastify'
import t from 'tap'
import { ContractTestError, contractTest, runContractTest } from '../../src/contract-test/contract-test.ts'
import { documentOf } from './test-application.ts'

const response = { description: 'ok', content: { 'application/json': { schema: { type: 'array' } } } }
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
