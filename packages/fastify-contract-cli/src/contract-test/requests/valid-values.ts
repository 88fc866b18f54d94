import * as fc from 'fast-check'
import type { Document } from '../../document/openapi-document.ts'
import type { RequestPart, RequestValues } from '../exchange.ts'
import { type BodyValue, bodyValues } from './body-values.ts'
import { bodyExamples, madeBodies, madeParameters, parameterExamples } from './document-examples.ts'
import type { BodyPart, OperationParts, ParameterPart } from './operation-parts.ts'
import { findable, parameterValues, type ValueSources } from './value-sources.ts'

/** A part of a request of which no value was made, with the reason. */
export type Unmade = { part: RequestPart; place: string; reason: string }

/** A parameter with its values: those of the document, and all. */
export type ValuedParameter = { part: ParameterPart; examples: unknown[]; values: fc.Arbitrary<unknown> }

/** A body with its values: those of the document, and all. */
export type ValuedBody = { part: BodyPart; examples: unknown[]; values: fc.Arbitrary<BodyValue> }

/** The parts of an operation with the values that every server accepts. */
export type ValidParts = {
  parts: OperationParts
  parameters: ValuedParameter[]
  bodies: ValuedBody[]
  unmade: Unmade[]
  /** Whether each required part has values, so that there are valid requests. */
  isComplete: boolean
}

/** Finds the values of each part of an operation. Parts without any are in `unmade`. */
export function validParts(
  document: Document,
  parts: OperationParts,
  sources: ValueSources,
  isOwn: boolean,
): ValidParts {
  const unmade: Unmade[] = []
  const parameters: ValuedParameter[] = []
  const bodies: ValuedBody[] = []
  for (const part of parts.parameters) {
    const examples = parameterExamples(document, sources, part)
    const result = withExamples(
      findable<unknown>(() => parameterValues(sources, part)),
      examples,
      () => madeParameters(document, sources, part),
    )
    if ('values' in result) parameters.push({ part, examples, values: result.values })
    else unmade.push({ part: part.in, place: part.name, reason: result.reason })
  }
  for (const part of parts.bodies) {
    const examples = bodyExamples(document, sources, parts.operation, part)
    const result = withExamples(
      findable(() => bodyValues(sources, part, isOwn)),
      examples as BodyValue[],
      () => madeBodies(document, sources, part),
    )
    if ('values' in result) bodies.push({ part, examples, values: result.values })
    else unmade.push({ part: 'body', place: part.declared, reason: result.reason })
  }
  const hasParameters = parts.parameters.every(
    (part) => !part.isRequired || parameters.some((one) => one.part === part),
  )
  return {
    parts,
    parameters,
    bodies,
    unmade,
    isComplete: hasParameters && (!parts.isBodyRequired || bodies.length > 0),
  }
}

/**
 * Returns values with those of the document among them. If no others are found, these are the only ones, with those that
 * `make` returns.
 */
function withExamples<T>(
  found: ReturnType<typeof findable<T>>,
  examples: T[],
  make: () => unknown[],
): ReturnType<typeof findable<T>> {
  const all = 'values' in found ? examples : [...examples, ...(make() as T[])]
  if (all.length === 0) return found
  const given = fc.constantFrom(...all)
  return { values: 'values' in found ? fc.oneof({ weight: 4, arbitrary: found.values }, given) : given }
}

/** Returns the values of valid requests: with and without the optional parts, and with each media type. */
export function validValues({ parts, parameters, bodies }: ValidParts): fc.Arbitrary<RequestValues> {
  const all = parameters.map(({ part, values }) =>
    (part.isRequired ? values : fc.option(values, { nil: absent })).map((value) => [part.key, value] as const),
  )
  const sent = bodies.map(({ part: { mediaType }, values }) => values.map((value) => ({ mediaType, value })))
  const none = parts.isBodyRequired ? [] : [fc.constant(undefined)]
  return fc.record({
    parameters: fc.tuple(...all).map((entries) => new Map(entries.filter(([, value]) => value !== absent))),
    body: fc.oneof(...none, ...sent),
  })
}

/** Stands for a parameter that is left out. */
const absent = Symbol('absent')

/** Returns the operation of a request with other values of one part. */
export const withParameter = (values: RequestValues, key: string, value: unknown): RequestValues => ({
  ...values,
  parameters: new Map([...values.parameters, [key, value]]),
})

/** Returns the values of a request without a parameter. */
export const withoutParameter = (values: RequestValues, key: string): RequestValues => ({
  ...values,
  parameters: new Map([...values.parameters].filter(([other]) => other !== key)),
})
