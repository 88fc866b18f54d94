import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseExactJson } from 'fastify-contract/json'
import t from 'tap'
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
import { readSources } from '../../src/read/source-files.ts'
import { bundle } from '../../src/redocly/redocly.ts'
import { directory, names } from '../documents/served-documents.ts'
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
const always = { 'created-is-readable': stateless, 'written-is-read': stateless, 'deleted-is-gone': stateless }

/** The checks that are turned off for the operations of a document, beside `always`. */
const off: Record<string, ChecksOff> = {
  security: { certificate: { 'requires-credentials': 'a mock needs no client certificate' } },
  'version-3-2': { addVehicle: { 'no-server-error': 'the document has no example of the response' } },
}

for (const name of names)
  t.test(`the mock of ${name} fails no check`, async (t) => {
    const path = `${directory}/${name}/openapi.yaml`
    const sources = await readSources(path)
    const [source] = sources.files.values()
    const hasFiles = readdirSync(dirname(path)).length > 2
    const document = hasFiles ? await bundle(path, `${directory}/redocly.yaml`, sources) : (source?.value as Document)
    const { contract } = await compileDocument(document, path, {})
    const normalized = normalizedDocument(parseExactJson(contract.documentText) as Document)
    const { app } = mockServer(contract, describedErrorBody({ document: normalized, routes: contract.routes }), {})
    t.teardown(() => app.close())
    const server = {
      target: applicationTarget(app),
      credentials: anyCredentials(normalized),
      isOwn: true,
      isInProcess: true,
    }
    const { failures, requests, seconds } = await testTarget(await testedDocument(contract), server, {
      off: { '*': always, ...off[name] },
      requests: 200,
      seconds: 30,
      maxGap: 10_000,
    })
    t.comment(`${requests} requests in ${seconds.toFixed(1)} s`)
    t.same(
      failures.map(({ check, operation, expected, got }) => [check, operation.operationId, expected, got]),
      [],
    )
  })
