import Fastify from 'fastify'
import t from 'tap'
import type { TargetFailure } from '../../../src/contract-test/exchange.ts'
import { applicationTarget, documentOf, testApplication } from '../test-application.ts'

const text = { type: 'string', maxLength: 20, example: 'abc' }
const content = { 'application/json': { schema: text } }
const document = documentOf({
  '/names': {
    post: {
      operationId: 'addName',
      requestBody: { required: true, content },
      responses: { 204: { description: 'Done.' } },
    },
  },
})

/** Returns the checks that fail for an application that is reached, but not by the request that is cut off. */
async function failedChecks(kind?: TargetFailure['kind']): Promise<string[]> {
  const app = Fastify()
  app.post('/names', (_, reply) => reply.code(200).send())
  const sendCut = () => Promise.reject(Object.assign(new Error('no connection'), kind && { kind }))
  const target = { ...applicationTarget(app), sendCut }
  const { failures } = await testApplication(app, document, { target, requests: 60 })
  return failures.map(({ check }) => check)
}

t.test('a request to cut off that cannot be sent neither fails nor ends the run', async (t) => {
  for (const kind of ['unreachable', 'tls', 'timeout', 'broken'] as const)
    t.match(await failedChecks(kind), ['documented-status'], kind)
})

t.test('an error of the test itself ends the run', async (t) => {
  await t.rejects(failedChecks(), { message: 'no connection' })
})
