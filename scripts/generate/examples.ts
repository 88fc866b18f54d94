import type { Schema } from '../../src/openapi/schema-keywords.ts'
import { resolve } from './json-pointer.ts'
import type { Document, Endpoint } from './openapi-document.ts'

type Example = { value?: unknown }
/** A media type or a parameter. */
type Exemplified = { schema?: Schema; example?: unknown; examples?: Record<string, Example> }

/** Returns the answer of an operation that succeeds, as the document shows it: the first 2xx, else its first response. */
export function exampleReply(
  document: Document,
  { responses, operationId }: Endpoint,
): { status: number; body: unknown } {
  const statuses = Object.keys(responses)
  const status = statuses.find((each) => each.startsWith('2')) ?? statuses[0]
  if (status === undefined) throw new Error(`operation ${operationId} has no response`)
  const [media] = Object.values((responses[status]?.content ?? {}) as Record<string, Exemplified>)
  const number = Number(status.replace('XX', '00').replace('default', '200'))
  return { status: number, body: media === undefined ? undefined : exampleOfContent(document, media) }
}

/** Returns the example that a media type or a parameter gives, or one of its schema. */
export function exampleOfContent(document: Document, { schema, example, examples = {} }: Exemplified): unknown {
  const [first] = Object.values(examples)
  const found = example ?? (first && (resolved(document, first) as Example).value)
  return found === undefined ? exampleOf(document, schema ?? {}) : found
}

/** Keywords that give a value by themselves, the most telling first. */
const given = ['const', 'example', 'examples', 'default', 'enum']
const plain: Record<string, unknown> = { string: '', integer: 0, number: 0, boolean: false, array: [], null: null }

/**
 * Returns a value of a schema: its own example, or one made of the examples of its parts; undefined for one of `within`,
 * the references that lead to it, since a schema may hold itself.
 */
export function exampleOf(document: Document, schema: Schema, within: unknown[] = []): unknown {
  const { $ref } = Object(schema)
  if ($ref !== undefined && within.includes($ref)) return undefined
  const node = resolved(document, schema)
  if (typeof node !== 'object') return null
  for (const keyword of given.filter((each) => Object.hasOwn(node, each))) {
    const value = node[keyword]
    return keyword === 'examples' || keyword === 'enum' ? (value as unknown[])[0] : value
  }
  const below = (part: unknown) => exampleOf(document, part as Schema, [...within, $ref])
  const alternatives = (node.oneOf ?? node.anyOf) as Schema[] | undefined
  const parts = [...((node.allOf as Schema[]) ?? []), ...(alternatives?.slice(0, 1) ?? [])].map(below)
  const properties = Object.entries((node.properties ?? {}) as Record<string, Schema>)
  const [type] = [node.type].flat()
  if (type === 'array' && node.items !== undefined) return [below(node.items)].filter((item) => item !== undefined)
  if (type !== 'object' && properties.length === 0 && parts.length > 0 && typeof parts[0] !== 'object') return parts[0]
  if (type !== undefined && type !== 'object') return plain[String(type)]
  const members = properties.map(([name, part]) => [name, below(part)]).filter(([, member]) => member !== undefined)
  return Object.assign({}, ...parts, Object.fromEntries(members))
}

function resolved(document: Document, node: unknown): Record<string, unknown> {
  const { $ref, ...rest } = (node ?? {}) as { $ref?: string }
  return $ref === undefined ? rest : { ...resolved(document, resolve(document, $ref)), ...rest }
}
