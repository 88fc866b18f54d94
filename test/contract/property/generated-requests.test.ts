import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { Generator, type Json, jsonText, type Members, styles } from 'fastify-contract-cli/testing-values'
import { assertGenerator } from 'fastify-contract-test-support/requests/assert-generator'
import { casesOf } from 'fastify-contract-test-support/requests/cases'
import { runCasesConcurrently } from 'fastify-contract-test-support/requests/run-cases'
import { connect } from 'fastify-contract-test-support/requests/service-client'
import t from 'tap'
import { errorNumbers } from '../../../generated/error-numbers.ts'
import { document } from '../../support/contract.ts'
import { startService } from '../../support/service-process.ts'
import { checkedRequest } from './checked-request.ts'

const runs = 1_000
/** A fixed seed repeats the same requests each time; `.ci/nightly property` uses other seeds. */
const seed = 1

const { port, generatedToken } = await startService(t, { ACCESS_TOKENS: '' })
const client = connect(port, `Bearer ${await generatedToken()}`)
t.teardown(client.close)

t.test('values for the plant store are valid or invalid as intended', async (t) => assertGenerator(t, document))

t.test('a repeated create gets 200, another plant with the same id 409', async (t) => {
  const plants = new Generator(document).valid({ $ref: '#/components/schemas/NewPlant' }) as fc.Arbitrary<Members>
  const known = new Map<unknown, string>()
  const create = async (body: string, { id, name, tag }: Members) => {
    const plant = JSON.stringify({ name, tag })
    const kept = known.get(id) ?? plant
    known.set(id, kept)
    const answer = await client.send('POST', { path: '/plants', headers: { 'content-type': 'application/json' }, body })
    const wanted = kept === plant ? [200, plant] : [409, answer.body]
    assert.deepEqual([answer.status, answer.body], wanted)
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

t.test('every response to generated requests conforms to the document', async (t) => {
  const { requests, seconds } = await runCasesConcurrently(
    casesOf(document, errorNumbers),
    checkedRequest(client),
    runs,
    seed,
  )
  t.comment(`${requests} requests in ${seconds.toFixed(1)} s, seed ${seed}`)
  t.ok(requests >= runs, 'at least the requested number of requests')
})
