import { roundingMessages } from 'fastify-contract/schema'
import type { ResponseCheck } from './check.ts'
import { jsonBody } from './read-body.ts'

export const validBody: ResponseCheck = {
  name: 'valid-body',
  summary: 'The body of each JSON response matches its schema, with the exact digits of each int64.',
  find(exchange, contract) {
    const body = jsonBody(exchange, contract)
    if (body === undefined) return undefined
    const { status } = exchange.response
    if ('problem' in body) return { expected: 'a body of JSON', got: body.problem, kind: `${status} json` }
    const validate = contract.validator.request(body.schema, 'body')
    for (const document of body.documents) {
      if (contract.validator.converter(body.schema)(document)) continue
      const result = validate(document)
      const got = 'error' in result ? comparedProblems(result.error.message, contract.isOwn) : 'another value'
      if (got === '') continue
      return { expected: 'a body that matches its schema', got, kind: `${status} ${placeOf(got)}` }
    }
    return undefined
  },
}

/** JSON Schema accepts a number that a double rounds; this engine rejects it. */
const isOfRounding = (problem: string): boolean =>
  Object.values(roundingMessages).some((message) => problem.endsWith(` ${message}`))

/**
 * Returns the problems of a body, without those that only a server of this engine must avoid; '' if none is left. Where none
 * of several alternatives matches since one has such a number, the problems of the others say nothing.
 */
function comparedProblems(message: string, isOwn: boolean): string {
  if (isOwn) return message
  const problems = message.split('; ').map((text) => ({ text, place: text.split(' ', 1)[0] as string }))
  const rounded = problems.filter(({ text }) => isOfRounding(text))
  const moot = problems.filter(
    ({ text, place }) => / in (?:anyOf|oneOf)$/.test(text) && rounded.some((one) => isWithin(one.place, place)),
  )
  return problems
    .filter((one) => !rounded.includes(one) && !moot.some(({ place }) => isWithin(one.place, place)))
    .map(({ text }) => text)
    .join('; ')
}

const isWithin = (place: string, outer: string): boolean => place === outer || place.startsWith(`${outer}/`)

/** Returns the place of the first problem without indexes, so that each item of a list has the same one. */
const placeOf = (problem: string): string => (problem.split(';', 1)[0] as string).replace(/\/\d+/g, '/*')
