import { parseExactJson } from 'fastify-contract/json'
import type { Credentials, TestRequest } from '../../src/contract-test/exchange.ts'
import type { ChecksOff } from '../../src/contract-test/results.ts'
import { testTarget } from '../../src/contract-test/target-test.ts'
import { testedDocument } from '../../src/contract-test/tested-document.ts'
import type { Document } from '../../src/document/openapi-document.ts'
import { credentialOf, shownRequirement } from '../../src/document/security-schemes.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import { describedErrorBody } from '../../src/init/error-body.ts'
import { mockServer } from '../../src/mock/mock-server.ts'
import { normalizedDocument } from '../../src/passes/normalize.ts'
import { directory } from '../documents/served-documents.ts'
import { servedDocument } from './requests/served-document.ts'
import { applicationTarget } from './test-application.ts'

/** Returns credentials for a mock, which accepts all. */
const anyCredentials = (document: Document): Credentials => ({
  accepted(request: TestRequest) {
    const { headers, target } = request
    const sent = { ...request, headers: { ...headers }, target }
    for (const scheme of Object.keys(shownRequirement(document, request.operation.security))) {
      const credential = credentialOf(document, scheme)
      if (credential === undefined) continue
      const value = credential.prefix === 'Basic ' ? 'Basic dTpw' : `${credential.prefix}token`
      const name = credential.name.toLowerCase()
      if (credential.in === 'header') sent.headers[name] = value
      else if (credential.in === 'cookie')
        sent.headers.cookie = [headers.cookie, `${credential.name}=${value}`].filter(Boolean).join('; ')
      else sent.target += `${sent.target.includes('?') ? '&' : '?'}${encodeURIComponent(credential.name)}=${value}`
    }
    return sent
  },
  rejected: (request) =>
    request.operation.security.length === 0 || request.operation.security.some((one) => Object.keys(one).length === 0)
      ? []
      : [{ request, status: 401, reason: 'without credentials' }],
})

const stateless = 'a mock keeps nothing'
/** Of what was created, a mock shows an example. */
const always = { 'written-is-read': stateless, 'deleted-is-gone': stateless }

/** The checks that are turned off for the operations of a document, beside `always`. */
const off: Record<string, ChecksOff> = {
  security: { certificate: { 'requires-credentials': 'a mock needs no client certificate' } },
  'version-3-2': { addVehicle: { 'no-server-error': 'the document has no example of the response' } },
}

/** Tests the mock of a document that the tests serve, and returns what fails. */
export const failuresOfServed = async (name: string, requests: number): Promise<unknown[]> =>
  failuresOfMock(await servedDocument(name), { path: `${directory}/${name}/openapi.yaml`, requests, off: off[name] })

type MockOptions = { path: string; requests: number; off?: ChecksOff | undefined }

/** Tests the mock of a document, and returns what fails. */
export async function failuresOfMock(
  document: Document,
  { path, requests, off = {} }: MockOptions,
): Promise<unknown[]> {
  const { contract } = await compileDocument(document, path, {})
  const normalized = normalizedDocument(parseExactJson(contract.documentText) as Document)
  const { app } = mockServer(contract, describedErrorBody({ document: normalized, routes: contract.routes }), {})
  const server = {
    target: applicationTarget(app),
    credentials: anyCredentials(normalized),
    isOwn: true,
    isInProcess: true,
  }
  const options = { off: { '*': always, ...off }, requests, seconds: 60, maxGap: 10_000 }
  try {
    const { failures } = await testTarget(await testedDocument(contract), server, options)
    return failures.map(({ check, operation, expected, got }) => [check, operation.operationId, expected, got])
  } finally {
    await app.close()
  }
}
