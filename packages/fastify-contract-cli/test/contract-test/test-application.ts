import type { FastifyInstance, InjectOptions } from 'fastify'
import type { Credentials, Target, TestRequest } from '../../src/contract-test/exchange.ts'
import type { ContractTestResult, RunOptions } from '../../src/contract-test/results.ts'
import { type TestedServer, testTarget } from '../../src/contract-test/target-test.ts'
import { testedDocument } from '../../src/contract-test/tested-document.ts'
import type { Document } from '../../src/testing.ts'

/** A target whose requests Fastify's own inject dispatches. */
export const applicationTarget = (app: FastifyInstance): Target => ({
  name: 'the application',
  async send({ method, target, headers, body }) {
    const payload = body === undefined ? {} : { payload: Buffer.from(body) }
    const response = await app.inject({ method, url: target, headers, ...payload } as InjectOptions)
    const { statusCode: status, headers: sent, rawPayload } = response
    return { status, headers: sent as Record<string, string>, body: rawPayload, milliseconds: 0 }
  },
  close: () => app.close(),
})

/** For operations without security requirements. */
export const noCredentials: Credentials = { accepted: (request: TestRequest) => request, rejected: () => [] }

/** Tests an application by a document, with a bound for small documents. */
export async function testApplication(
  app: FastifyInstance,
  document: Document,
  options: Omit<RunOptions, 'document'> & Partial<TestedServer> = {},
): Promise<ContractTestResult> {
  const server = {
    target: applicationTarget(app),
    credentials: noCredentials,
    isOwn: false,
    isInProcess: true,
    ...options,
  }
  return await testTarget(await testedDocument(document), server, { requests: 300, ...options })
}

/** Returns a document in OpenAPI 3.1 with some paths and schemas. */
export const documentOf = (paths: object, components: object = {}): Document => ({
  openapi: '3.1.0',
  info: { title: 'Test', version: '1.0.0' },
  paths: paths as Record<string, object>,
  components,
})
