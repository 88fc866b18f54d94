import * as fc from 'fast-check'
import { type Document, type Endpoint, endpoints, join } from 'fastify-contract-cli/testing'
import { Generator, jsonText, notIJson, notJson, styles } from 'fastify-contract-cli/testing-values'
import { parametersOf, type Target } from './parameter-arbitraries.ts'

/** A request without its method, which the operation defines. */
export type Request = Target & { body: string | Buffer | undefined }

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

/** Returns the valid requests of each operation, and requests with each possible breach. */
export function casesOf(document: Document, numbers: ErrorNumbers): Case[] {
  const generator = new Generator(document)
  return endpoints(document).flatMap((endpoint) => casesOfOperation(document, endpoint, generator, numbers))
}

function casesOfOperation(
  document: Document,
  endpoint: Endpoint,
  generator: Generator,
  { invalid, notJson: unreadable }: ErrorNumbers,
): Case[] {
  const { operationId, requestBody } = endpoint
  const mediaType = requestBody && mediaTypeOf(Object.keys(requestBody.content))
  // Form bodies are left out: other tests cover them.
  if (mediaType !== undefined && /form/.test(mediaType)) return []
  const parameters = parametersOf(document, endpoint, generator)
  // A $ref resolves to the same object each time; the generator caches by object identity.
  const schema = isJson(mediaType)
    ? { $ref: join(requestBody?.pointer as string, 'content', mediaType, 'schema') }
    : undefined
  const otherBody = mediaType === undefined ? fc.constant(undefined) : fc.string()
  const validBody = schema === undefined ? otherBody : written(generator.valid(schema))
  const contentType = mediaType === undefined ? {} : { 'content-type': mediaType.replaceAll('*', 'a') }
  const one = (
    what: string,
    error: number | undefined,
    targets: fc.Arbitrary<Target>,
    bodies: fc.Arbitrary<Request['body']>,
  ): Case => ({
    name: `${operationId}, ${what}`,
    endpoint,
    requests: fc
      .tuple(targets, bodies)
      .map(([target, body]) => ({ ...target, headers: { ...contentType, ...target.headers }, body })),
    error,
  })
  const cases = [one('valid', undefined, parameters.valid, validBody)]
  for (const { name, targets } of parameters.breaches) cases.push(one(name, invalid, targets, validBody))
  if (schema === undefined) return cases
  for (const { where, what, values } of generator.breaches(schema))
    cases.push(one(`body${where} ${what}`, invalid, parameters.valid, written(values)))
  const values = fc.tuple(generator.valid(schema), fc.nat())
  for (const [what, spoil] of Object.entries({ ...notJson, ...notIJson })) {
    const bodies = values.map(([value, number]) => spoil(value, number))
    cases.push(one(`body with ${what}`, unreadable, parameters.valid, bodies))
  }
  return cases
}

const isJson = (mediaType: string | undefined): mediaType is string =>
  mediaType !== undefined && /^[^*]+[/+]json(;|$)/.test(mediaType)

/** Returns the media type of the generated bodies: the first JSON type, or else the first type of the operation. */
const mediaTypeOf = (names: string[]): string | undefined => names.find(isJson) ?? names[0]

const written = (values: ReturnType<Generator['valid']>): fc.Arbitrary<string> =>
  fc.tuple(values, fc.constantFrom(...styles)).map(([value, style]) => jsonText(value, style))
