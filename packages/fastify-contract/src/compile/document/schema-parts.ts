import { type Schema, schemasIn } from '../../serve/schema-keywords.ts'
import { resolve } from './json-pointer.ts'
import type { Node } from './walk-document.ts'

/** A schema that every value of another schema must satisfy, too. */
export type Part = {
  schema: Node
  /** The reference that led to it, if any. */
  reference?: string
  /** The part that holds it or refers to it; the first part has none. */
  holder?: Part
  /** Whether it is the schema itself or the target of its $ref, and not a member of an allOf. */
  isOwn: boolean
}

/**
 * Returns the schemas that every value of a schema must satisfy: the schema itself, the targets of its references, and
 * the members of its allOf, each once, at most `limit` of them. The schema `false` is returned as `{ not: {} }`.
 */
export function partsOf(document: object, schema: Schema, limit = Number.POSITIVE_INFINITY): Part[] {
  const found: Part[] = []
  const seen = new Set<unknown>()
  const waiting: (Omit<Part, 'schema'> & { given: unknown })[] = [{ given: schema, isOwn: true }]
  for (let next = waiting.pop(); next !== undefined && found.length < limit; next = waiting.pop()) {
    const { given, ...more } = next
    const node = given === false ? falseSchema : given
    if (typeof node !== 'object' || node === null || seen.has(node)) continue
    seen.add(node)
    const holder: Part = { schema: node as Node, ...more }
    found.push(holder)
    const { $ref } = holder.schema
    const members = schemasIn(holder.schema, 'allOf').reverse()
    for (const given of members) waiting.push({ given, holder, isOwn: false })
    if (typeof $ref === 'string')
      waiting.push({ given: resolve(document, $ref), reference: $ref, holder, isOwn: holder.isOwn })
  }
  return found
}

/** Returns the references that led to some parts of a schema. */
export function referencesOf(parts: Part[]): string[] {
  const seen = new Set<Part>()
  for (const part of parts) {
    for (let one: Part | undefined = part; one !== undefined && !seen.has(one); one = one.holder) seen.add(one)
  }
  return [...seen].flatMap(({ reference }) => reference ?? [])
}

/** How schemas describe members: those that a schema names, and whether it also describes others. */
type Members = {
  namesIn: (schema: Node) => string[]
  isOpen: (schema: Node) => boolean
  schemasOf: (schema: Node, name: string) => Schema[]
}

/**
 * Returns each name in some schemas with the schemas of that member, in order. Asks only the schemas that name a member
 * or are open, so that many schemas with many names take linear time.
 */
export function groupedByName(
  schemas: Node[],
  { namesIn, isOpen, schemasOf }: Members,
  names: string[] = [],
): Map<string, Schema[]> {
  const open = schemas.flatMap((schema, index) => (isOpen(schema) ? [index] : []))
  const holders = new Map<string, number[]>(names.map((name) => [name, []]))
  for (const [index, schema] of schemas.entries()) {
    for (const name of namesIn(schema)) {
      const known = holders.get(name)
      if (known === undefined) holders.set(name, [index])
      else known.push(index)
    }
  }
  const inOrder = (indexes: number[]) =>
    open.length === 0 ? indexes : [...new Set([...indexes, ...open])].sort((one, other) => one - other)
  return new Map(
    Array.from(holders, ([name, indexes]) => [
      name,
      inOrder(indexes).flatMap((index) => schemasOf(schemas[index] as Node, name)),
    ]),
  )
}

const falseSchema: Node = { not: {} }

/** Returns the numeric values of a keyword in some schemas. */
export const numbersOf = (schemas: Node[], keyword: string): number[] =>
  schemas.map((schema) => schema[keyword]).filter((value) => typeof value === 'number')

/** Returns the types that all of the schemas allow, or undefined if none of them limits the type. */
export function commonTypes(schemas: Node[]): string[] | undefined {
  const given = schemas.flatMap(({ type }) => (type === undefined ? [] : [[type].flat().map(String)]))
  return given.length === 0
    ? undefined
    : given.reduce((some, others) => {
        const isNumber = (type: string) => type === 'integer' && others.includes('number')
        const kept = some.filter((type) => others.includes(type) || isNumber(type))
        return some.includes('number') && others.includes('integer') ? [...new Set([...kept, 'integer'])] : kept
      })
}
