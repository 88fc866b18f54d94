/** Finds the integers of a document that the tools between the document and the service cannot process exactly. */

import { type Schema, schemaKeywords, schemasIn } from '../serve/schema-keywords.ts'
import { join } from './json-pointer.ts'
import { reachability } from './schema-graph.ts'
import { type Node, walkSchemas } from './walk-document.ts'

/**
 * Returns one line for each place of a bundled OpenAPI document whose integers would be rounded or compared wrongly: a
 * number beyond 2^53 - 1 (YAML and JSON tools read it as a double), a fractional multipleOf beside int64, and an int64
 * in contains.
 */
export function inexactIntegers(document: object): string[] {
  const problems = roundedNumbers(document, '#')
  const holdsInt64 = int64Holders(document)
  walkSchemas(document, (schema, pointer) => {
    if (isInt64(schema) && schema.multipleOf !== undefined && !Number.isInteger(schema.multipleOf)) {
      problems.push(`${pointer}/multipleOf: must be an integer beside the format int64`)
    }
    // Ajv stops at the first items that match contains, so the int64 values of later items would not become bigints.
    if (schemasIn(schema, 'contains').some((items) => holdsInt64(items)))
      problems.push(`${pointer}/contains: int64 values are not exact in contains; use items instead`)
  })
  return problems
}

/** Returns one line for each rounded number in any value, since examples and extensions are rounded as well. */
function roundedNumbers(value: unknown, pointer: string): string[] {
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    const advice = 'remove it (int64 implies its own limits) or state it in the description'
    return [`${pointer}: an integer beyond 2^53 - 1 would be rounded; ${advice}`]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, below]) => roundedNumbers(below, join(pointer, key)))
}

/** Returns a function that tells whether a schema holds an int64 at any depth, also behind a $ref. */
export const int64Holders = (document: object): ((schema: Schema) => boolean) =>
  reachability(document, Object.keys(schemaKeywords), isInt64)

/**
 * Returns whether the type of a schema allows integers and no other numbers, so that its format can make them exact.
 */
export const isExactInteger = ({ type }: Exclude<Schema, boolean> | Node): boolean => {
  const types = [type].flat()
  return types.includes('integer') && !types.includes('number')
}

/** Returns whether a schema is an int64, alone or beside types that are not numbers. */
export const isInt64 = (schema: Exclude<Schema, boolean> | Node): boolean =>
  schema.format === 'int64' && isExactInteger(schema)
