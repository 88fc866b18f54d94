import { readFileSync } from 'node:fs'
import { serviceErrors } from 'fastify-contract/contract'
import { endpoints } from 'fastify-contract-cli/testing'
import { parseRequestFile } from 'fastify-contract-test-support/request-file'
import t from 'tap'
import { errorNumbers } from '../../generated/error-numbers.ts'
import { document } from '../support/contract.ts'
import { createTestApp, token } from '../support/test-app.ts'

/** The error numbers of the service itself. Errors of a handler are allowed: an example's id may not exist. */
const refusals = Object.keys(serviceErrors).map((name) => (errorNumbers as Record<string, number>)[name])

t.test('generated/requests.http has every operation once, and each request reaches its handler', async (t) => {
  const { app } = await createTestApp(t)
  // Every security scheme gets the token of a client as its credential.
  const { securitySchemes } = document.components as { securitySchemes: object }
  const credentials = Object.fromEntries(Object.keys(securitySchemes).map((name) => [name, token]))
  const requests = parseRequestFile(readFileSync('generated/requests.http', 'utf8'), credentials)
  const operations = endpoints(document).map(({ operationId, method }) => `${method} ${operationId}`)
  t.same(
    requests.map(({ name, method }) => `${method} ${name}`),
    operations,
  )
  for (const { name, ...request } of requests) {
    const answer = await app.inject(request)
    if (answer.statusCode >= 300) t.notOk(refusals.includes(answer.json().error), `${name}: ${answer.body}`)
  }
})
