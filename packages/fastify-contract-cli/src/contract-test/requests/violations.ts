import * as fc from 'fast-check'
import type { RequestValues, TestRequest, Violation } from '../exchange.ts'
import { filterOrThrow, isFoundInSample } from '../values/arbitrary.ts'
import { notIJson, notJson } from '../values/invalid-json.ts'
import type { Json } from '../values/json-notations.ts'
import { bodyBreaches } from './body-breaches.ts'
import { parameterBreaches } from './parameter-breaches.ts'
import type { Textual } from './readings.ts'
import { type ValidParts, type ValuedBody, validValues, withoutParameter, withParameter } from './valid-values.ts'
import type { ValueSources } from './value-sources.ts'
import { type Change, writeRequest } from './write-request.ts'

/** Requests that are invalid for one reason. */
export type InvalidRequests = { violation: Violation; requests: fc.Arbitrary<TestRequest> }

/** The maximum number of violations of one operation. */
export const maxViolations = 300

/** Returns the requests of each violation of an operation. Needs valid values of its required parts. */
export function invalidRequests(valid: ValidParts, sources: ValueSources, isOwn: boolean): InvalidRequests[] {
  const values = validValues(valid)
  // Making a body that an invalid one replaces would take most of the time.
  const withoutBody = validValues({ ...valid, parts: { ...valid.parts, isBodyRequired: false }, bodies: [] })
  const found: InvalidRequests[] = []
  const add = (violation: Violation, all: fc.Arbitrary<TestRequest | undefined>) => {
    const requests = writable(all, `${violation.place} ${violation.reason}`)
    if (requests !== undefined && found.length < maxViolations) found.push({ violation, requests })
  }
  const write = (one: RequestValues, violation: Violation, change?: Change) =>
    writeRequest(valid.parts, one, 'random', { violation, ...(change && { change }) })

  // Another value of a parameter that selects an operation is a request of another operation.
  const parameters = valid.parts.parameters.filter((part) => part.in === 'path' || !valid.parts.isSelected)
  for (const part of parameters) {
    if (part.isRequired && part.in !== 'path' && isSurelyMissed(part.reading)) {
      const violation: Violation = { part: part.in, place: part.name, reason: 'missing' }
      add(
        violation,
        values.map((one) => write(withoutParameter(one, part.key), violation)),
      )
    }
    for (const { violation, values: broken } of parameterBreaches(sources, part, isOwn))
      add(
        violation,
        fc.tuple(values, broken).map(([one, value]) => write(withParameter(one, part.key, value), violation)),
      )
  }
  for (const body of valid.bodies) addBodyViolations(body)
  addMissingBody()
  addMediaTypes()
  return found

  function addBodyViolations({ part, values: bodies }: ValuedBody) {
    const { mediaType } = part
    for (const { violation, values: broken } of bodyBreaches(sources, part, isOwn)) {
      const requests = fc.tuple(withoutBody, broken).map(([one, value]) => ({ ...one, body: { mediaType, value } }))
      add(
        violation,
        requests.map((one) => write(one, violation)),
      )
    }
    if (part.kind !== 'json') return
    const texts = fc.tuple(withoutBody, bodies, fc.nat())
    for (const [spoils, isIJson] of [
      [notJson, false],
      [notIJson, true],
    ] as const)
      for (const [reason, spoil] of Object.entries(spoils)) {
        const isStrict = isIJson || laxJson.includes(reason)
        const violation: Violation = { part: 'body', place: '', reason, ...(isStrict && { isStrict }) }
        const requests = texts.map(([one, value, number]) => {
          const body = Buffer.from(spoil(value as Json, number))
          return write({ ...one, body: { mediaType, value } }, violation, { body })
        })
        add(violation, requests)
      }
  }

  function addMissingBody() {
    if (!valid.parts.isBodyRequired || valid.parts.isSelected) return
    // A server may take a missing body for an empty object.
    const isStrict = valid.bodies.some(({ part }) => part.kind !== 'json' || sources.isConvertible(part.schema, {}))
    const violation: Violation = { part: 'body', place: '', reason: 'missing', ...(isStrict && { isStrict }) }
    add(
      violation,
      values.map((one) => write({ ...one, body: undefined }, violation)),
    )
  }

  function addMediaTypes() {
    const declared = valid.parts.bodies.map((part) => part.declared)
    if (valid.bodies.length > 0 && !declared.some((one) => /^(?:\*|application)\/\*/.test(one))) {
      const violation: Violation = { part: 'contentType', place: '', reason: 'not declared', isStrict: true }
      const change = { headers: { 'content-type': 'application/x-undeclared' } }
      const withBody = values.map((one) => (one.body === undefined ? undefined : write(one, violation, change)))
      add(violation, withBody)
    }
    if (negotiates(valid)) {
      const violation: Violation = { part: 'accept', place: '', reason: 'not declared', isStrict: true }
      const change = { headers: { accept: 'application/x-undeclared' } }
      add(
        violation,
        values.map((one) => write(one, violation, change)),
      )
    }
  }
}

/** Texts that some parsers of JSON accept: Python's takes NaN, and Go's reads one value and no further. */
const laxJson = ['a number that is none', 'something after the value']

/** Returns whether each server notices that a parameter is missing: an object of several pairs may be an empty one. */
const isSurelyMissed = ({ kind, style, explode }: Textual): boolean =>
  !(kind === 'nested' || (kind === 'object' && style === 'form' && explode))

/** Returns whether the successful responses of an operation have several media types, among which Accept chooses. */
function negotiates({ parts: { operation } }: ValidParts): boolean {
  const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
  const several = successes.map(([, { content = {} }]) => Object.keys(content)).filter(({ length }) => length > 1)
  return several.length > 0 && several.flat().every((type) => !type.includes('*'))
}

/** Returns the requests that can be written; undefined if hardly any can. */
function writable(all: fc.Arbitrary<TestRequest | undefined>, place: string): fc.Arbitrary<TestRequest> | undefined {
  const isWritten = (one: TestRequest | undefined) => one !== undefined
  try {
    if (!isFoundInSample(all, isWritten)) return undefined
  } catch {
    return undefined
  }
  return filterOrThrow(all, isWritten, place) as fc.Arbitrary<TestRequest>
}
