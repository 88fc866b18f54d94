/** What the tools between the document and the server cannot carry exactly, found before it is generated. */

import { join, resolve } from '../../src/openapi/document.ts'

type Node = Record<string, unknown>

/**
 * Takes a bundled OpenAPI document; gives one line for each place whose integers would be rounded or compared wrongly:
 * a number beyond 2^53 - 1 (YAML and JSON tools read it as a double), a fractional multipleOf beside int64, and
 * uniqueItems over items that hold an int64 (two ids may share one double).
 */
export function inexactIntegers(document: object): string[] {
  const problems: string[] = []
  walk(document, '#', (node, place) => {
    for (const [key, value] of Object.entries(node)) {
      if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
        problems.push(
          `${place}/${key}: an integer beyond 2^53 - 1 would be rounded; leave it out (int64 implies its own limits) or say it in the description`,
        )
      }
    }
    if (isInt64(node) && node.multipleOf !== undefined && !Number.isInteger(node.multipleOf)) {
      problems.push(`${place}/multipleOf: beside int64 it must be an integer`)
    }
    if (node.uniqueItems === true && holdsInt64(node.items, document)) {
      problems.push(`${place}/uniqueItems: cannot compare int64 items exactly; say it in the description instead`)
    }
  })
  return problems
}

function walk(node: unknown, place: string, visit: (node: Node, place: string) => void): void {
  if (typeof node !== 'object' || node === null) return
  visit(node as Node, place)
  for (const [key, value] of Object.entries(node)) walk(value, join(place, key), visit)
}

/** Whether an int64 stands anywhere in a schema, or behind a $ref in it. */
export function holdsInt64(schema: unknown, document: object, seen = new Set<unknown>()): boolean {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return false
  seen.add(schema)
  const { $ref, ...rest } = schema as Node
  if (typeof $ref === 'string' && holdsInt64(resolve(document, $ref), document, seen)) return true
  return isInt64(rest) || Object.values(rest).some((value) => holdsInt64(value, document, seen))
}

/** Whether a schema is that of an int64, or of an int64 among others. */
export const isInt64 = (node: Node) => node.format === 'int64' && [node.type].flat().includes('integer')
