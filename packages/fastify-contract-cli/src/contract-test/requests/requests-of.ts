import * as fc from 'fast-check'
import type { Document, Endpoint } from '../../document/openapi-document.ts'
import type { RequestValues, Source, TestRequest } from '../exchange.ts'
import { filterOrThrow } from '../values/arbitrary.ts'
import { type Json, jsonText, styles } from '../values/json-notations.ts'
import type { ValueHook } from '../values/value-options.ts'
import { boundaryRequests } from './boundary-requests.ts'
import { exampleRequests, pairwiseRequests } from './listed-requests.ts'
import { type OperationParts, operationParts } from './operation-parts.ts'
import { type Unmade, type ValidParts, validParts, validValues } from './valid-values.ts'
import { valueSources } from './value-sources.ts'
import { type InvalidRequests, invalidRequests } from './violations.ts'
import { type Change, writeRequest } from './write-request.ts'

export type { InvalidRequests, Unmade, ValueHook }

export type RequestOptions = {
  /**
   * Whether the server is one of this engine. Its requests may have everything that the document allows; those for
   * others leave out what only some servers take as OpenAPI means it. Default: false.
   */
  isOwn?: boolean
  /** Returns a value for the parameter or property of a name; undefined if one is to be generated. */
  values?: ValueHook
}

/**
 * The requests of an operation, in the order in which a test sends them. All but `random` and `invalid` are finite. Each
 * list is made when it is first read.
 */
export type OperationRequests = {
  /** With the examples of the document, at most 20. */
  examples: TestRequest[]
  /** With each value at the bound of a constraint, at most 200. */
  boundaries: TestRequest[]
  /** With each two optional parts in all four combinations, at most 40. */
  pairwise: TestRequest[]
  /** Undefined if no value is found for a required part. */
  random: fc.Arbitrary<TestRequest> | undefined
  /** One for each violation, at most 300. */
  invalid: InvalidRequests[]
  /** The parts of which no value was made, each with the reason. */
  unmade: Unmade[]
}

/** Makes the requests of the operations of a document. */
export type RequestMaker = {
  requestsOf(operation: Endpoint): OperationRequests
  /**
   * Writes a request from given values. Returns undefined if one of them cannot be sent in its part. Media types of
   * bodies that are ranges in the document stand for the type that `requestsOf` sends.
   */
  requestWith(operation: Endpoint, values: RequestValues, source?: Source): TestRequest | undefined
}

const noValue: ValueHook = () => undefined

/** Returns a function that makes a value at its first call. */
function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

/**
 * Returns a maker of requests for a document in the form of `normalizedDocument`. The same document, options and seed
 * make the same requests. Parts of which no value can be made are reported with the operation, and never thrown.
 */
export function requestMaker(
  document: Document,
  { isOwn = false, values: hook = noValue }: RequestOptions = {},
): RequestMaker {
  const sources = valueSources(document, isOwn, hook)
  const partsOf = new Map<string, OperationParts>()
  const validOf = new Map<string, ValidParts>()
  const made = new Map<string, OperationRequests>()

  function parts(operation: Endpoint): OperationParts {
    const found = partsOf.get(operation.operationId) ?? operationParts(document, operation)
    partsOf.set(operation.operationId, found)
    return found
  }

  function valid(operation: Endpoint): ValidParts {
    const found = validOf.get(operation.operationId) ?? validParts(document, parts(operation), sources, isOwn)
    validOf.set(operation.operationId, found)
    return found
  }

  return {
    requestsOf(operation) {
      const found = made.get(operation.operationId) ?? make(operation)
      made.set(operation.operationId, found)
      return found
    },
    requestWith: (operation, values, source = 'sequence') => writeRequest(parts(operation), values, source),
  }

  function make(operation: Endpoint): OperationRequests {
    const found = valid(operation)
    const { unmade } = found
    const examples = exampleRequests(found)
    if (!found.isComplete) return { examples, boundaries: [], pairwise: [], random: undefined, invalid: [], unmade }
    // Those of a large document take longer than a test, which first sends one request of each operation.
    const boundaries = once(() => boundaryRequests(document, found, sources))
    const pairwise = once(() => pairwiseRequests(found, sources))
    const invalid = once(() => invalidRequests(found, sources, isOwn))
    return {
      examples,
      get boundaries() {
        return boundaries()
      },
      get pairwise() {
        return pairwise()
      },
      random: randomRequests(found, isOwn),
      get invalid() {
        return invalid()
      },
      unmade,
    }
  }
}

/** Returns random valid requests. Their JSON has several notations, of which a service of this engine takes all. */
function randomRequests(valid: ValidParts, isOwn: boolean): fc.Arbitrary<TestRequest> {
  const notations = isOwn ? styles : styles.filter((style) => style !== 'fraction' && style !== 'exponent')
  const requests = fc.tuple(validValues(valid), fc.constantFrom(...notations)).map(([values, style]) => {
    const part = valid.parts.bodies.find(({ mediaType }) => mediaType === values.body?.mediaType)
    const isJson = part?.kind === 'json' && style !== 'plain'
    const change: Change = isJson ? { body: Buffer.from(jsonText(values.body?.value as Json, style)) } : {}
    return writeRequest(valid.parts, values, 'random', { change })
  })
  const { method, path } = valid.parts.operation
  return filterOrThrow(requests, (one) => one !== undefined, `${method} ${path}`) as fc.Arbitrary<TestRequest>
}
