/**
 * npm run mock
 *
 * Answers as the service would, with the examples of the document and without a store, so that a client can be written
 * before a handler is: requests are authenticated (by any token), parsed and validated as they are by the service, and
 * refused with its errors. Listens on 127.0.0.1, port PORT or 3000.
 */
import { readFile } from 'node:fs/promises'
import Fastify from 'fastify'
import { bearerVerifier } from '../src/auth/bearer.ts'
import { exitOptions } from '../src/http/request-guards.ts'
import { rateLimit } from '../src/limits/rate-limit.ts'
import { type Document, endpoints } from '../src/openapi/document.ts'
import { bind } from '../src/openapi/register-operations.ts'
import { exampleReply } from './generate/examples.ts'

const document: Document = JSON.parse(await readFile('generated/openapi.json', 'utf8'))
const handlers = Object.fromEntries(
  endpoints(document).map((endpoint) => [endpoint.operationId, async () => exampleReply(document, endpoint)]),
)
const unlimited = { failures: rateLimit(0), requests: rateLimit(0) }
const app = Fastify({ ...exitOptions, logger: { level: 'error' } })
try {
  await bind(app, { document, handlers, verifiers: { bearer: await bearerVerifier(app, () => 'anybody', unlimited) } })
  const url = await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT || 3000) })
  console.log(`mock of ${document.info.title} ${document.info.version} on ${url}, any token will do`)
} catch (error) {
  console.error(`mock: ${(error as Error).message}`)
  process.exitCode = 1
}
