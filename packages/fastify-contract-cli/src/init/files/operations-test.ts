/** The test of a new project, which calls each operation. */
export const operationsTest = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listVerifier, newToken, requestContext } from 'fastify-contract'
import { exampleCalls } from 'fastify-contract-cli/examples'
import { contract } from '../generated/contract.mjs'
import { createApp } from '../src/app.ts'

const token = newToken()
const scopes = contract.routes.operations.flatMap(({ security }) => security.flatMap((one) => Object.values(one).flat()))
// A busy machine that runs tests must not shed load.
const app = createApp(listVerifier([token], scopes), { contract, limits: { eventLoopDelay: 60_000 } })

/** The operations whose handlers were called. */
const called = new Set<string | undefined>()
app.addHook('preHandler', async (request) => {
  called.add(requestContext(request).operation)
})

const calls = exampleCalls(contract, token)
for (const { operationId } of contract.routes.operations) {
  if (calls.some((call) => call.operationId === operationId)) continue
  const skip = 'no valid example of the request is known; add one to the document'
  test(\`\${operationId} handles its example request\`, { skip }, () => {})
}

for (const { operationId, request } of calls) {
  test(\`\${operationId} handles its example request\`, async () => {
    const { statusCode, body } = await app.inject(request)
    // An operation that is not written yet responds with 501.
    if (statusCode === 501) return
    const outcome = \`\${request.method} \${request.url}: \${statusCode} \${body}\`
    assert.ok(called.has(operationId), \`rejected before its handler: \${outcome}\`)
    // A 404, for example, is right if the handlers have no data of the example.
    assert.ok(statusCode < 500, outcome)
  })
}

test('an unknown path gets 404', async () => {
  assert.equal((await app.inject('/no/such/path')).statusCode, 404)
})
`
