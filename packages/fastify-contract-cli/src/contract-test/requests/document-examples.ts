import { resolve } from '../../document/json-pointer.ts'
import type { Document, Endpoint } from '../../document/openapi-document.ts'
import { holderOf, type WithExample } from '../../document/parameter-objects.ts'
import { partsOf } from '../../document/schemas.ts'
import { exampleOfRequest } from '../../examples/examples.ts'
import type { Json } from '../values/json-notations.ts'
import { isCertainBody } from './body-values.ts'
import type { BodyPart, ParameterPart } from './operation-parts.ts'
import { isCertain, type ValueSources } from './value-sources.ts'

/** The maximum number of examples of one part. */
const maxExamples = 20

/** Returns the examples of a parameter in the document that its schema accepts. */
export function parameterExamples(document: Document, sources: ValueSources, part: ParameterPart): unknown[] {
  const given = sources.valueOf(part.name, part.schema)
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
  return found.filter((value) => isCertainBody(sources, part, value as Json))
}

/** Returns the examples of a parameter or media type, those of its schema last. */
function examplesOf(document: Document, { example, examples = {}, schema }: WithExample): unknown[] {
  const named = Object.values(examples).map((one) => valueOf(document, one))
  const found = [example, ...named]
  for (const part of partsOf(document, schema ?? true)) {
    const { example: one, examples: several, default: usual } = part.schema as Record<string, unknown>
    if (part.isOwn) found.push(one, ...(Array.isArray(several) ? several : []), usual)
  }
  return found.filter((value) => value !== undefined).slice(0, maxExamples)
}

function valueOf(document: Document, node: unknown, steps = 0): unknown {
  const { $ref, value, dataValue } = Object(node) as { $ref?: string; value?: unknown; dataValue?: unknown }
  if (typeof $ref !== 'string') return value ?? dataValue
  return steps > 20 ? undefined : valueOf(document, resolve(document, $ref), steps + 1)
}
