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
      const got = 'error' in result ? result.error.message : 'another value'
      if (!contract.isOwn && got.split('; ').every((problem) => ofRounding.test(problem))) continue
      return { expected: 'a body that matches its schema', got, kind: `${status} ${placeOf(got)}` }
    }
    return undefined
  },
}

/** Matches a problem that only this engine has with a number that JSON allows (RFC 8259 section 6). */
const ofRounding = /integer from -9007199254740991 to 9007199254740991$|a double holds without rounding$/

/** Returns the place of the first problem without indexes, so that each item of a list has the same one. */
const placeOf = (problem: string): string => (problem.split(';', 1)[0] as string).replace(/\/\d+/g, '/*')
