import { type FieldType, fieldsOf, fieldTypes } from './field-types.ts'
import { join, resolve } from './json-pointer.ts'
import { type Kind, memberOf } from './openapi-grammar.ts'
import { isNode, type Node } from './walk-document.ts'

/**
 * Returns one line for each place where the structure of a bundled document violates OpenAPI. Checks only what the
 * generator reads; the linter checks more.
 */
export function structureProblems(document: unknown): string[] {
  const problems: string[] = []
  const visit = (value: unknown, kind: Kind, pointer: string): void => {
    if (!isNode(value)) {
      if (kind !== 'schema' || typeof value !== 'boolean') problems.push(wrong(pointer, 'an object', value))
      return
    }
    const problem = Object.hasOwn(value, '$ref') ? referenceProblem(document as Node, kind, value) : undefined
    if (problem !== undefined) problems.push(`${pointer}/$ref: ${problem}`)
    for (const [name, type] of Object.entries(fieldsOf(kind)))
      problems.push(...fieldProblems(value, name, type, pointer))
    for (const [name, below] of Object.entries(value)) visitMember(below, kind, name, join(pointer, name))
  }
  const visitMember = (value: unknown, kind: Kind, name: string, pointer: string): void => {
    const member = memberOf(kind, name)
    if (member === undefined) return
    if (member.shape === 'one') {
      visit(value, member.kind, pointer)
      return
    }
    const isList = member.shape === 'list'
    if (isList ? !Array.isArray(value) : !isNode(value)) {
      problems.push(wrong(pointer, isList ? 'an array' : 'an object', value))
      return
    }
    for (const [key, below] of Object.entries(value as Node)) {
      if (member.shape !== 'patterned' || !key.startsWith('x-')) visit(below, member.kind, join(pointer, key))
    }
  }
  visit(document, 'document', '#')
  return problems
}

const wrong = (place: string, expected: string, value: unknown): string =>
  value === undefined
    ? `${place}: is missing; add ${expected}`
    : `${place}: must be ${expected}, not ${JSON.stringify(value).slice(0, 40)}; correct it`

function fieldProblems(node: Node, name: string, { is, isRequired = false }: FieldType, pointer: string): string[] {
  const value = Object.hasOwn(node, name) ? node[name] : undefined
  // An object with a $ref takes its required fields from the target.
  if (value === undefined && (!isRequired || Object.hasOwn(node, '$ref'))) return []
  const [expected, isValid] = fieldTypes[is]
  return isValid(value) ? [] : [wrong(join(pointer, name), expected, value)]
}

/**
 * Returns the problem of a reference, if any. The targets of schema references are checked in unsupported-schemas.ts.
 */
function referenceProblem(document: Node, kind: Kind, node: Node): string | undefined {
  const seen = new Set<unknown>()
  for (let found: unknown = node; ; ) {
    if (!isNode(found) || seen.has(found)) return `${node.$ref} does not resolve to the expected ${kind}; correct it`
    const { $ref } = found
    if ($ref === undefined) return undefined
    if (typeof $ref !== 'string') return 'must be a string; correct it'
    if (kind === 'schema') return undefined
    if (!$ref.startsWith('#/')) return `${$ref} does not point into this document; use a reference that begins with #/`
    seen.add(found)
    found = resolve(document, $ref)
  }
}
