import type { Schema } from 'fastify-contract/contract'
import { resolve } from '../../document/json-pointer.ts'
import type { Document, Endpoint } from '../../document/openapi-document.ts'
import { holderOf, type WithExample } from '../../document/parameter-objects.ts'
import { partsOf, propertySchemas } from '../../document/schemas.ts'
import { exampleOfRequest } from '../../examples/examples.ts'
import { generatedCount, generatedValue } from '../../examples/schema-values.ts'
import type { Json } from '../values/json-notations.ts'
import { isCertainBody } from './body-values.ts'
import { isMembers } from './form-values.ts'
import type { BodyPart, ParameterPart } from './operation-parts.ts'
import { isCertain, type ValueSources } from './value-sources.ts'

/** The maximum number of examples of one part. */
const maxExamples = 20

/** Returns the examples of a parameter in the document that its schema accepts. */
export function parameterExamples(document: Document, sources: ValueSources, part: ParameterPart): unknown[] {
  const given = sources.hook(part.name, part.schema)
  if (given !== undefined) return [given]
  return examplesOf(document, holderOf(part.parameter)).filter((value) => isCertain(sources, part, value as Json))
}

/** Returns the examples of a body in the document that its schema accepts; text and bytes have no others. */
export function bodyExamples(
  document: Document,
  sources: ValueSources,
  { requestBody }: Endpoint,
  part: BodyPart,
): unknown[] {
  const media = (requestBody?.content[part.declared] ?? {}) as WithExample
  const found = examplesOf(document, media)
  if (part.kind === 'json' || part.kind === 'form') {
    const made = exampleOfRequest(document, media)
    if (made !== undefined) found.push(made)
  }
  return found
    .map((value) => withGiven(document, sources, part.schema, value))
    .filter((value) => isCertainBody(sources, part, value as Json))
}

/** Returns an example with the values of the hook for the properties that it has, at any depth. */
function withGiven(document: Document, sources: ValueSources, schema: Schema, value: unknown): unknown {
  if (!isMembers(value)) return value
  const members = Object.entries(value).map(([name, member]) => {
    const described = propertySchemas(document, schema, name).flat()[0] ?? true
    return [name, sources.hook(name, described) ?? withGiven(document, sources, described, member)]
  })
  return Object.fromEntries(members)
}

/** Returns values that the schema of a parameter accepts, made from its keywords as for the documentation. */
export const madeParameters = (document: Document, sources: ValueSources, part: ParameterPart): unknown[] =>
  madeValues(document, part.schema).filter((value) => isCertain(sources, part, value as Json))

/** Returns values that the schema of a body accepts, made from its keywords as for the documentation. */
export const madeBodies = (document: Document, sources: ValueSources, part: BodyPart): unknown[] =>
  part.kind === 'json' || part.kind === 'form'
    ? madeValues(document, part.schema)
        .map((value) => withGiven(document, sources, part.schema, value))
        .filter((value) => isCertainBody(sources, part, value as Json))
    : []

const madeValues = (document: Document, schema: Schema): unknown[] =>
  Array.from({ length: generatedCount }, (_, index) => generatedValue(document, schema, index)).filter(
    (value) => value !== undefined,
  )

/** Returns the examples of a parameter or media type, those of its schema last. */
function examplesOf(document: Document, { example, examples = {}, schema }: WithExample): unknown[] {
  const named = Object.values(examples).map((one) => exampleValue(document, one))
  const found = [example, ...named]
  for (const part of partsOf(document, schema ?? true)) {
    const { example: one, examples: several, default: usual } = part.schema as Record<string, unknown>
    if (part.isOwn) found.push(one, ...(Array.isArray(several) ? several : []), usual)
  }
  return found.filter((value) => value !== undefined).slice(0, maxExamples)
}

function exampleValue(document: Document, node: unknown, steps = 0): unknown {
  const { $ref, value, dataValue } = Object(node) as { $ref?: string; value?: unknown; dataValue?: unknown }
  if (typeof $ref !== 'string') return value ?? dataValue
  return steps > 20 ? undefined : exampleValue(document, resolve(document, $ref), steps + 1)
}
