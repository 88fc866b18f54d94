import type { AddressInfo } from 'node:net'
import * as fc from 'fast-check'
import { Generator } from 'fastify-contract-cli/testing-values'
import { allKeywordsDocument } from 'fastify-contract-test-support/requests/all-keywords-document'
import { casesOf } from 'fastify-contract-test-support/requests/cases'
import { runCasesConcurrently } from 'fastify-contract-test-support/requests/run-cases'
import { checkStatus, connect } from 'fastify-contract-test-support/requests/service-client'
import t from 'tap'
import { serviceErrors } from '../../src/contract/errors.ts'
import type { Schema } from '../../src/contract/schema-keywords.ts'
import { serveDocument } from '../support/serve-document.ts'

const numbers = { invalid: serviceErrors.invalid.error, notJson: serviceErrors.notJson.error }

t.test('each constraint of a schema adds one kind of violation', async (t) => {
  const breaches = (schema: Schema) =>
    new Generator(allKeywordsDocument).breaches(schema).map(({ where, what }) => `${where} ${what}`.trim())
  const types = (...names: string[]) => names.map((name) => `${name} instead of array`)
  const wrong = types('null', 'boolean', 'number', 'string', 'object')
  t.same(breaches({}), [])
  t.same(breaches({ type: 'array' }), wrong)
  t.same(breaches({ type: 'array', minItems: 1 }), [...wrong, 'too few items'])
  t.same(breaches({ type: 'array', items: { enum: [1] } }), [...wrong, '/items not listed'])
  t.same(breaches({ properties: { 'a/b': { maximum: 1 } } }), ['/a~1b above the greatest'])
  t.same(breaches({ required: ['a'], additionalProperties: false }), [])
  t.same(breaches({ required: ['a'] }), ['/a missing'])
  t.same(breaches({ additionalProperties: false }), ['/additionalProperties not allowed'])
  t.same(breaches({ minLength: 1, multipleOf: 2 }), ['no multiple', 'too short'])
})

t.test('the error for an unsatisfiable schema names it', async (t) => {
  const endless = { type: 'object', required: ['a'], properties: { a: { $ref: '#/components/schemas/Endless' } } }
  const generator = new Generator({ ...allKeywordsDocument, components: { schemas: { Endless: endless } } })
  t.throws(() => generator.valid({ minimum: 2, maximum: 1 }), /no value can be made for \{"minimum":2,"maximum":1\}/)
  t.throws(() => generator.valid({ allOf: [{ type: 'string' }, { type: 'array' }] }), /no value can be made/)
  t.throws(() => generator.valid(endless), /no value can be made/)
  const rare = { type: 'string', not: { type: 'string' } }
  t.throws(() => fc.sample(generator.valid(rare), 1), /no value found in 2000 tries/)
})

t.test('generated requests test a document with every supported keyword', async (t) => {
  const handler = async () => ({ status: 200, body: {} })
  const handlers = { putBed: handler, getBed: handler, postLabels: handler }
  const app = await serveDocument(allKeywordsDocument, { handlers })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const client = connect((app.server.address() as AddressInfo).port, '')
  t.teardown(client.close)
  const cases = casesOf(allKeywordsDocument, numbers)
  const ask: Parameters<typeof runCasesConcurrently>[1] = async ({ endpoint, error }, request) =>
    checkStatus(await client.send(endpoint.method, request), error, endpoint)
  const { requests } = await runCasesConcurrently(cases, ask, 2_000, 1)
  t.ok(requests >= 2_000)
  const names = cases.map(({ name }) => name)
  t.ok(names.includes('getBed, path bed: below the least'))
  t.ok(names.includes('putBed, body/family/children/items/name null instead of string'))
})
