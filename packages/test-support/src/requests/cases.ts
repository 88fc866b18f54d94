import * as fc from 'fast-check'
import { type Document, type Endpoint, endpoints, normalizedDocument } from 'fastify-contract-cli/testing'
import { notIJson, notJson, requestMaker, type TestRequest, type Violation } from 'fastify-contract-cli/testing-values'

/** A request without its method, which the operation defines. */
export type Request = { path: string; headers: Record<string, string>; body: string | Buffer | undefined }

/** Requests to one operation that must get the same kind of response. */
export type Case = {
  name: string
  endpoint: Endpoint
  requests: fc.Arbitrary<Request>
  /** The error number that each response must have; undefined for valid requests. */
  error: number | undefined
}

/** The error numbers of requests that do not match their schema, and of bodies that are not JSON. */
export type ErrorNumbers = { invalid: number; notJson: number }

/** Returns the valid requests of each operation, and requests with each violation of a schema or of JSON. */
export function casesOf(given: Document, numbers: ErrorNumbers): Case[] {
  const document = normalizedDocument(given)
  const { requestsOf } = requestMaker(document, { isOwn: true })
  return endpoints(document).flatMap((endpoint) => {
    const { random, examples, boundaries, pairwise, invalid } = requestsOf(endpoint)
    const listed = fc.constantFrom(...examples, ...boundaries, ...pairwise)
    const one = (what: string, error: number | undefined, requests: fc.Arbitrary<TestRequest>): Case => ({
      name: `${endpoint.operationId}, ${what}`,
      endpoint,
      requests: requests.map(sent),
      error,
    })
    const cases = random === undefined ? [] : [one('valid', undefined, fc.oneof(random, listed))]
    for (const { violation, requests } of invalid)
      if (isOfSchema(violation)) cases.push(one(nameOf(violation), errorOf(violation, numbers), requests))
    return cases
  })
}

const sent = ({ target, headers, body }: TestRequest): Request => ({
  path: target,
  headers,
  body: body && Buffer.from(body),
})

/** Returns whether a violation is one of a schema or of JSON: the others have error numbers of their own. */
const isOfSchema = ({ part, place, reason }: Violation): boolean =>
  part !== 'contentType' && part !== 'accept' && !(part === 'body' && place === '' && reason === 'missing')

const nameOf = ({ part, place, reason }: Violation): string =>
  part === 'body' ? `body${place} ${reason}` : `${part} ${place}: ${reason}`

const errorOf = ({ part, place, reason }: Violation, { invalid, notJson: unreadable }: ErrorNumbers): number =>
  part === 'body' && place === '' && (reason in notJson || reason in notIJson) ? unreadable : invalid
