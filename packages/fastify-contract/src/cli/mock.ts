import { AsyncLocalStorage } from 'node:async_hooks'
import Fastify from 'fastify'
import digests from '../../../../generated/digests.json' with { type: 'json' }
import { errorBody } from '../../../../src/error-body.ts'
import { createVerifiers } from '../auth/verifier.ts'
import { normalizedDocument } from '../compile/document/normalize.ts'
import { type Endpoint, endpoints } from '../compile/document/openapi-document.ts'
import { exampleResponse } from '../compile/emit/examples.ts'
import { serverOptions } from '../http/server-options.ts'
import { anyCredentials, preferredResponse } from '../mock/mock-server.ts'
import { contentNegotiation } from '../serve/content-negotiation.ts'
import { loadContract } from '../serve/load-contract.ts'
import type { AnyHandler } from '../serve/operation-handler.ts'
import { registerOperations } from '../serve/register-operations.ts'
import { isStream, type Outcome } from '../serve/send-response.ts'
import { commandLine } from './command-line.ts'

commandLine(`npm run mock

Responds like the service, with the examples of the document and without a store, so that a client can be written before
the handlers. Requests are authenticated (with any credentials), parsed, validated and rejected as by the service.
Listens on 127.0.0.1, port PORT or 3000.

A request selects its response with the header Prefer (RFC 7240): code=409 for the response with that status,
example=NAME for one of several examples. The header Preference-Applied names the preferences that were applied.
`)

const { documentText, routes } = await loadContract(new URL('../../../../generated/', import.meta.url), digests)
const document = normalizedDocument(JSON.parse(documentText))
const operations = new Map(endpoints(document).map((endpoint) => [endpoint.operationId, endpoint]))
const negotiations = new Map(
  routes.operations.map(({ operationId, schema }) => [operationId, contentNegotiation(schema)]),
)
const chosen = new AsyncLocalStorage<Outcome>()
const respond = async ({ body }: { body: unknown }) => {
  const outcome = chosen.getStore() as Outcome
  // The parts of a multipart form are validated while they are read.
  if (isStream(body)) for await (const _part of body);
  return outcome
}
const handlers = Object.fromEntries(Array.from(operations.keys(), (id) => [id, respond as AnyHandler]))
const app = Fastify({ ...serverOptions, logger: { level: 'error' } })
app.addHook('preHandler', ({ headers, routeOptions }, reply, done) => {
  const { operationId } = routeOptions.schema as { operationId: string }
  const endpoint = operations.get(operationId) as Endpoint
  const accept = negotiations.get(operationId)?.choose(headers.accept)
  const preferred = preferredResponse(document, endpoint, String(headers.prefer ?? ''), accept)
  if (preferred !== undefined) reply.header('preference-applied', preferred.applied)
  chosen.run(preferred?.outcome ?? exampleResponse(document, endpoint, accept), done)
})
try {
  const context = { app, realm: 'mock', withinFailureLimit: () => true }
  const verifiers = await createVerifiers(anyCredentials(document), context)
  await registerOperations(app, { routes, handlers, verifiers, errorBody })
  const url = await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT || 3000) })
  console.log(`mock of ${routes.info.title} ${routes.info.version} on ${url}; it accepts any token`)
} catch (error) {
  console.error(`mock: ${(error as Error).message}`)
  process.exitCode = 1
}
