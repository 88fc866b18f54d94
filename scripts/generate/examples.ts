import type { Schema } from '../../src/openapi/schema-keywords.ts'
import { resolve } from './json-pointer.ts'
import type { Document, Endpoint, Response } from './openapi-document.ts'

type Example = { value?: unknown }

/** A media type or a parameter. */
export type WithExample = { schema?: Schema; example?: unknown; examples?: Record<string, Example> }

/** Returns the answer of an operation that succeeds, as the document shows it: the first 2xx, else its first response. */
export function exampleReply(
  document: Document,
  { responses, operationId }: Endpoint,
): { status: number; body: unknown } {
  const statuses = Object.keys(responses)
  const status = statuses.find((each) => each.startsWith('2')) ?? statuses[0]
  if (status === undefined) throw new Error(`operation ${operationId} has no response`)
  const number = Number(status.replace('XX', '00').replace('default', '200'))
  return { status: number, body: exampleBody(document, responses[status] as Response) }
}

/** Returns the body of a response, as the document shows it: the example of a name, else the first; undefined for none. */
export function exampleBody(document: Document, response: Response, name?: string): unknown {
  const [media] = Object.values((response.content ?? {}) as Record<string, WithExample>)
  return media && exampleOfContent(document, media, name)
}

/** Returns the example of a name of a media type or a parameter, else the first, else one made of its schema. */
export function exampleOfContent(
  document: Document,
  { schema, example, examples = {} }: WithExample,
  name?: string,
): unknown {
  const chosen = name !== undefined && Object.hasOwn(examples, name) ? examples[name] : undefined
  const [first] = Object.values(examples)
  const named = chosen ?? (example === undefined ? first : undefined)
  const found = named === undefined ? example : (resolved(document, named) as Example).value
  return found === undefined ? exampleOf(document, schema ?? {}) : found
}

/** Returns whether a response has an example of this name. */
export const hasExample = ({ content = {} }: Response, name: string): boolean =>
  Object.values(content as Record<string, WithExample>)
    .slice(0, 1)
    .some(({ examples = {} }) => Object.hasOwn(examples, name))

/** Keywords that give a value by themselves, the most telling first. */
const given = ['const', 'example', 'examples', 'default', 'enum']
const plain: Record<string, unknown> = { string: '', integer: 0, number: 0, boolean: false, array: [], null: null }

/**
 * Returns a value of a schema: its own example, or one made of the examples of its parts. A schema that contains itself,
 * by one of the references in `within`, ends there: undefined, which is left out.
 */
export function exampleOf(document: Document, schema: Schema, within: string[] = []): unknown {
  const { $ref } = Object(schema) as { $ref?: string }
  if ($ref !== undefined && within.includes($ref)) return undefined
  const node = resolved(document, schema)
  if (typeof node !== 'object') return null
  for (const keyword of given.filter((each) => Object.hasOwn(node, each))) {
    const value = node[keyword]
    return keyword === 'examples' || keyword === 'enum' ? (value as unknown[])[0] : value
  }
  const below = (part: unknown) => exampleOf(document, part as Schema, $ref === undefined ? within : [...within, $ref])
  const [all, alternatives] = [node.allOf ?? [], node.oneOf ?? node.anyOf ?? []] as [Schema[], Schema[]]
  const parts = [...all.map(below), firstDefined(alternatives, below)].filter(isDefined)
  const properties = Object.entries((node.properties ?? {}) as Record<string, Schema>)
  if (all.length + alternatives.length > 0 && parts.length + properties.length === 0) return undefined
  const [type] = [node.type].flat()
  if (type === 'array' && node.items !== undefined) return [below(node.items)].filter(isDefined)
  if (type !== 'object' && properties.length === 0 && parts.length > 0 && !isObject(parts[0])) return parts[0]
  if (type !== undefined && type !== 'object') return plain[String(type)]
  const members = properties.map(([name, part]) => [name, below(part)] as const)
  return Object.assign({}, ...parts, Object.fromEntries(members.filter(([, value]) => isDefined(value))))
}

const isDefined = (value: unknown): boolean => value !== undefined

const isObject = (value: unknown): boolean => Object(value) === value && !Array.isArray(value)

function firstDefined(schemas: Schema[], exampleFor: (schema: Schema) => unknown): unknown {
  for (const schema of schemas) {
    const value = exampleFor(schema)
    if (isDefined(value)) return value
  }
  return undefined
}

function resolved(document: Document, node: unknown): Record<string, unknown> {
  const { $ref, ...rest } = (node ?? {}) as { $ref?: string }
  return $ref === undefined ? rest : { ...resolved(document, resolve(document, $ref)), ...rest }
}
