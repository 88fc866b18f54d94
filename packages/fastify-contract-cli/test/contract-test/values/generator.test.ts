import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import type { Schema } from 'fastify-contract/contract'
import { allKeywordsDocument } from 'fastify-contract-test-support/requests/all-keywords-document'
import { assertAll, assertGenerator } from 'fastify-contract-test-support/requests/assert-generator'
import t from 'tap'
import { Generator, type Json, jsonText, notIJson, notJson, styles } from '../../../src/testing-values.ts'

t.test('values for a richer document are valid or invalid as intended', async (t) =>
  assertGenerator(t, allKeywordsDocument),
)

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

const values = new Generator(allKeywordsDocument).valid({ $ref: '#/components/schemas/Tree' })
const anything = fc.oneof(values, new Generator(allKeywordsDocument).valid(true))

t.test('every notation of a value is I-JSON and parses to the same value', async (t) => {
  for (const style of styles) {
    const isSame = (value: Json) => {
      const text = jsonText(value, style)
      return isIJson(text) && fc.stringify(JSON.parse(text)) === fc.stringify(JSON.parse(jsonText(value)))
    }
    assertAll(t, style, anything, isSame, 300)
  }
})

t.test('JSON.parse rejects text that is not JSON and accepts text that only I-JSON forbids', async (t) => {
  for (const [what, spoil] of Object.entries(notJson)) {
    const isBroken = ([value, number]: [Json, number]) => !isJson(spoil(value, number).toString())
    assertAll(t, what, fc.tuple(anything, fc.nat()), isBroken, 100)
  }
  for (const [what, spoil] of Object.entries(notIJson)) {
    const isBroken = ([value, number]: [Json, number]) => {
      const bytes = spoil(value, number)
      return isJson(bytes.toString()) && !(isUtf8(Buffer.from(bytes)) && isIJson(bytes.toString()))
    }
    assertAll(t, what, fc.tuple(anything, fc.nat()), isBroken, 100)
  }
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Returns whether a text is I-JSON (RFC 7493 sections 2.1 and 2.3) without NUL and of at most 128 levels. */
function isIJson(text: string): boolean {
  let members = 0
  let isClean = true
  const levels = (value: unknown): number => {
    if (typeof value === 'string' && !(value.isWellFormed() && !value.includes('\0'))) isClean = false
    if (typeof value !== 'object' || value === null) return 0
    if (!Array.isArray(value)) {
      members += Object.keys(value).length
      levels(Object.keys(value))
    }
    return 1 + Math.max(0, ...Object.values(value).map(levels))
  }
  const depth = levels(JSON.parse(text))
  return (
    isClean &&
    depth <= 128 &&
    members === Array.from(text.matchAll(/"(?:[^"\\]|\\.)*"\s*(:?)/g)).filter(([, colon]) => colon === ':').length
  )
}
