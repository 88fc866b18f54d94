import * as fc from 'fast-check'
import type { RequestValues, TestRequest } from '../exchange.ts'
import type { Json } from '../values/json-notations.ts'
import { isCertainBody } from './body-values.ts'
import { coveringArray } from './covering-array.ts'
import { isMembers } from './form-values.ts'
import type { ValidParts, ValuedBody } from './valid-values.ts'
import type { ValueSources } from './value-sources.ts'
import { writeRequest } from './write-request.ts'

/** The maximum number of requests with the examples of an operation. */
const maxExamples = 20

/** The maximum number of optional parts that are combined. */
const maxFactors = 1_000

/**
 * Returns requests with the examples of the document: the first of each part, then the second, and so on. A required part
 * without an example has a generated value, and an optional one is left out.
 */
export function exampleRequests(valid: ValidParts): TestRequest[] {
  const { parts, parameters, bodies, isComplete } = valid
  if (!isComplete) return []
  const counts = [
    ...parameters.map(({ examples }) => examples.length),
    ...bodies.map(({ examples }) => examples.length),
  ]
  const requests: TestRequest[] = []
  for (let index = 0; index < Math.min(Math.max(0, ...counts), maxExamples); index++) {
    const values = new Map<string, unknown>()
    for (const { part, examples, values: all } of parameters) {
      if (examples.length > 0) values.set(part.key, examples[index % examples.length])
      else if (part.isRequired) values.set(part.key, first(all))
    }
    for (const body of sentBodies(valid, index)) {
      const request = writeRequest(parts, { parameters: values, body }, 'example')
      if (request !== undefined) requests.push(request)
    }
  }
  return requests.slice(0, maxExamples)
}

/** Returns the example of each body at an index; a required body without an example is made. */
function sentBodies({ parts, bodies }: ValidParts, index: number): RequestValues['body'][] {
  const given = bodies.filter(({ examples }) => examples.length > 0)
  const [any] = bodies
  if (given.length === 0) return parts.isBodyRequired && any ? [bodyOf(any, first(any.values))] : [undefined]
  return given.map((body) => bodyOf(body, body.examples[index % body.examples.length]))
}

const bodyOf = ({ part: { mediaType } }: ValuedBody, value: unknown) => ({ mediaType, value })

/** Returns a value that is the same each time. */
export const first = <T>(values: fc.Arbitrary<T>): T => fc.sample(values, { numRuns: 1, seed: 1 })[0] as T

/**
 * Returns requests in which each two optional parts occur together, alone, and not at all: parameters, and the properties
 * of an object that is the first body; and such requests without the body, if it is optional. Leaves out a body whose
 * schema rejects the combination.
 */
export function pairwiseRequests({ parts, parameters, bodies }: ValidParts, sources: ValueSources): TestRequest[] {
  const required = parameters.filter(({ part }) => part.isRequired)
  const optional = parameters.filter(({ part }) => !part.isRequired)
  const [body] = bodies
  const full = body && fullBody(body)
  const names = body === undefined ? [] : optionalNames(body, full, sources)
  const requests: TestRequest[] = []
  if (body !== undefined) {
    for (const row of rowsOf(optional.length + names.length)) {
      const value = withoutNames(full, new Set(names.filter((_, index) => !row[optional.length + index])))
      if (isCertainBody(sources, body.part, value as Json)) add(row, bodyOf(body, value))
    }
  }
  if (!parts.isBodyRequired) for (const row of rowsOf(optional.length)) add(row, undefined)
  return requests

  function add(row: boolean[], sent: RequestValues['body']): void {
    const chosen = [...required, ...optional.filter((_, index) => row[index])]
    const values = new Map(chosen.map(({ part, values: all }) => [part.key, first(all)]))
    const request = writeRequest(parts, { parameters: values, body: sent }, 'pairwise')
    if (request !== undefined) requests.push(request)
  }
}

const rowsOf = (count: number): boolean[][] => coveringArray(Math.min(count, maxFactors))

/** The number of values among which that with the most properties is chosen. */
const tries = 30

/** Returns a value of a body, that with the most properties of some. */
function fullBody({ values }: ValuedBody): unknown {
  const all = sampleOf(values, tries)
  const sizeOf = (value: unknown) => (isMembers(value) ? Object.keys(value).length : 0)
  return all.reduce((most, one) => (sizeOf(one) > sizeOf(most) ? one : most))
}

/** Returns some values, or the first one if so many are not found. */
function sampleOf(values: fc.Arbitrary<unknown>, numRuns: number): unknown[] {
  try {
    return fc.sample(values, { numRuns, seed: 1 })
  } catch {
    return [first(values)]
  }
}

/** Returns the names of the properties without which a body is valid, too. */
function optionalNames({ part }: ValuedBody, full: unknown, sources: ValueSources): string[] {
  if (!isMembers(full)) return []
  return Object.keys(full).filter((name) => isCertainBody(sources, part, withoutNames(full, new Set([name])) as Json))
}

const withoutNames = (value: unknown, names: Set<string>): unknown =>
  isMembers(value) && names.size > 0
    ? Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)))
    : value
