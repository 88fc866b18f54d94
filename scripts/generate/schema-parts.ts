import { type Schema, schemasIn } from '../../src/openapi/schema-keywords.ts'
import { resolve } from './json-pointer.ts'
import type { Node } from './walk-document.ts'

/** A schema that every value of another schema must satisfy, too. */
export type Part = {
  schema: Node
  /** The references that were followed to reach it. */
  references: string[]
  /** Whether it is the schema itself or the target of its $ref, and not a member of an allOf. */
  isOwn: boolean
}

/**
 * Returns the schemas that every value of a schema must satisfy: the schema itself, the targets of its references, and
 * the members of its allOf, each once. The schema `false` is returned as `{ not: {} }`.
 */
export function partsOf(document: object, schema: Schema): Part[] {
  const found: Part[] = []
  const seen = new Set<unknown>()
  const add = (given: unknown, references: string[], isOwn: boolean): void => {
    const node = given === false ? falseSchema : given
    if (typeof node !== 'object' || node === null || seen.has(node)) return
    seen.add(node)
    const part = { schema: node as Node, references, isOwn }
    found.push(part)
    const { $ref } = part.schema
    if (typeof $ref === 'string') add(resolve(document, $ref), [...references, $ref], isOwn)
    for (const one of schemasIn(part.schema, 'allOf')) add(one, references, false)
  }
  add(schema, [], true)
  return found
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
