import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { newToken, type VerifyToken } from 'fastify-contract'
import { type ContractTestResult, runContractTest } from 'fastify-contract-cli/contract-test'
import { Generator, type Json, jsonText, type Members, styles } from 'fastify-contract-cli/testing-values'
import { assertGenerator } from 'fastify-contract-test-support/requests/assert-generator'
import { writeTokenFile } from 'fastify-contract-test-support/token-files'
import t, { type Test } from 'tap'
import { contract } from '../../../generated/contract.mjs'
import { createTokenVerifier } from '../../../packages/fastify-contract/src/auth/token-verifier.ts'
import { createApp } from '../../../src/app.ts'
import { openMemory } from '../../../src/store/memory.ts'
import { document } from '../../support/contract.ts'
import { startService } from '../../support/service-process.ts'

const runs = 1_000
/** A fixed seed repeats the same requests each time; `.ci/nightly property` uses other seeds. */
const seed = 1

const { port, generatedToken } = await startService(t, { ACCESS_TOKENS: '' })
const bearer = await generatedToken()

t.test('values for the plant store are valid or invalid as intended', async (t) => assertGenerator(t, document))

t.test('a repeated create gets 200, another plant with the same id 409', async (t) => {
  const plants = new Generator(document).valid({ $ref: '#/components/schemas/NewPlant' }) as fc.Arbitrary<Members>
  const known = new Map<unknown, string>()
  const create = async (body: string, { id, name, tag }: Members) => {
    const plant = JSON.stringify({ name, tag })
    const kept = known.get(id) ?? plant
    known.set(id, kept)
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }
    const response = await fetch(`http://127.0.0.1:${port}/plants`, { method: 'POST', headers, body })
    const text = await response.text()
    assert.deepEqual([response.status, text], kept === plant ? [200, plant] : [409, text])
  }
  await fc.assert(
    fc.asyncProperty(plants, fc.constantFrom(...styles), plants, async (plant, style, other) => {
      await create(jsonText(plant), plant)
      await create(jsonText(plant, style), plant)
      const { tag: _, ...untagged } = plant
      const { id } = plant as { id: Json }
      const { name } = other as { name: Json }
      for (const next of [untagged, { ...plant, tag: '' }, { ...plant, name }, { ...other, id }])
        await create(jsonText(next), next)
    }),
    { numRuns: 100, seed },
  )
  t.ok(known.size > 50, `${known.size} ids`)
})

const tested = { document: contract, requests: runs, seed, credentials: { bearer } }

t.test('each response of the service to requests that the document implies conforms to it', async (t) => {
  const result = await runContractTest({ url: `http://127.0.0.1:${port}` }, tested)
  assertPassed(t, result)
})

t.test('so does each response of the application in process, with tokens of its issuer and a token file', async (t) => {
  const jwt = { issuer: 'https://issuer.invalid', audience: 'https://plants.example', jwksUrl: undefined }
  const sources = { tokens: [], tokensFile: writeTokenFile(t, ['gardener', newToken()]), jwt }
  const { verify, close } = await createTokenVerifier(sources, { load() {}, error: t.fail })
  t.teardown(close)
  const verified: string[] = []
  const verifyToken: VerifyToken = (token, withinFailureLimit) => {
    verified.push(token)
    return verify(token, withinFailureLimit)
  }
  const limits = { eventLoopDelay: 60_000, authFailures: 0 }
  const app = createApp({ contract, store: openMemory(), verifyToken, limits })
  t.teardown(() => app.close())
  const { credentials: _, ...others } = tested
  assertPassed(t, await runContractTest(app, others))
  const claims = new Set(verified.filter((token) => token.startsWith('eyJ')).map((token) => token.split('.')[1]))
  t.ok(claims.size > 7, 'accepted tokens, and each kind of wrong ones')
  const [token] = verified.filter((one) => one.startsWith('eyJ') && one.length > 400)
  const answer = await app.inject({ url: '/plants/a', headers: { authorization: `Bearer ${token}` } })
  t.not(answer.statusCode, 200, 'after the test, no key of it is trusted')
})

t.test('a service whose store is broken fails', async (t) => {
  const store = { create: () => Promise.reject(new Error('the store is broken')) }
  const app = createApp({ contract, store, verifyToken: () => undefined, limits: { eventLoopDelay: 60_000 } })
  t.teardown(() => app.close())
  const { failures } = await runContractTest(app, { document: contract, requests: 100 })
  t.match(failures, [{ check: 'no-server-error', operation: { operationId: 'createPlant' } }])
})

function assertPassed(t: Test, { failures, operations, checks, requests, end }: ContractTestResult): void {
  t.same(
    failures.map(({ check, expected, got, request }) => [check, expected, got, request.target, String(request.body)]),
    [],
  )
  t.match([operations.map(({ untested }) => untested), requests, end], [[undefined], runs, 'requests'])
  const looked = new Map(checks.map(({ check, looked }) => [check, looked]))
  for (const check of ['valid-body', 'rejects-invalid', 'accepts-valid']) t.ok((looked.get(check) ?? 0) > 900, check)
  for (const check of ['requires-credentials', 'unknown-method', 'survives-cut-request'])
    t.equal(looked.get(check), 1, check)
}
