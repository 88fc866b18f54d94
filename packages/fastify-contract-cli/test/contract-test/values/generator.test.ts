import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import { allKeywordsDocument } from 'fastify-contract-test-support/requests/all-keywords-document'
import { assertAll, assertGenerator } from 'fastify-contract-test-support/requests/assert-generator'
import t from 'tap'
import { Generator, type Json, jsonText, notIJson, notJson, styles } from '../../../src/testing-values.ts'

t.test('values for a richer document are valid or invalid as intended', async (t) =>
  assertGenerator(t, allKeywordsDocument),
)

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
