import { join, resolve } from '../document/json-pointer.ts'
import { eachHeld, hasShape, isNode, type Kind, memberOf, type Node } from '../document/walk-document.ts'
import { type FieldType, fieldTypes } from '../lenient/field-types.ts'
import { fieldsOf, isRequired } from '../lenient/openapi-fields.ts'

/**
 * Returns one line for each location where the structure of a bundled document violates OpenAPI. Checks only what the
 * generator reads; the linter checks more.
 */
export function structureProblems(document: unknown): string[] {
  const problems: string[] = []
  const visit = (value: unknown, kind: Kind, pointer: string): void => {
    const names = [pointer.slice(pointer.lastIndexOf('/'))]
    if (kind === 'parameter') names.push(String(Object(value).name))
    if (kind === 'operation') names.push(String(Object(value).operationId))
    if (names.some((name) => /\p{Surrogate}/u.test(name)))
      problems.push(`${pointer}: its name contains a lone surrogate, which no request can contain; remove it`)
    if (!isNode(value)) {
      if (kind !== 'schema' || typeof value !== 'boolean') problems.push(wrong(pointer, 'an object', value))
      return
    }
    const problem = Object.hasOwn(value, '$ref') ? referenceProblem(document as Node, kind, value) : undefined
    if (problem !== undefined) problems.push(`${pointer}/$ref: ${problem}`)
    for (const [name, type] of Object.entries(fieldsOf(kind))) {
      const expected = expectedOf(value, name, type, isRequired(kind, name))
      if (expected !== undefined) problems.push(wrong(join(pointer, name), expected, value[name]))
    }
    for (const [name, below] of Object.entries(value)) visitMember(below, kind, name, join(pointer, name))
  }
  const visitMember = (value: unknown, kind: Kind, name: string, pointer: string): void => {
    const member = memberOf(kind, name)
    if (member === undefined) return
    if (hasShape(value, member)) eachHeld(value, member, pointer, (held, at) => visit(held, member.kind, at))
    else problems.push(wrong(pointer, member.shape === 'list' ? 'an array' : 'an object', value))
  }
  const { swagger } = Object(document) as { swagger?: unknown }
  if (swagger !== undefined)
    return [`#/swagger: this is Swagger ${swagger}, which is not supported; convert the document to OpenAPI 3 first`]
  visit(document, 'document', '#')
  const version = (document as { openapi?: unknown } | null)?.openapi
  if (problems.length === 0 && !/^3\.[012]\./.test(version as string))
    problems.push(`#/openapi: ${version} is not supported; use 3.0, 3.1 or 3.2`)
  return problems
}

const wrong = (pointer: string, expected: string, value: unknown): string =>
  value === undefined
    ? `${pointer}: is missing; add ${expected}`
    : `${pointer}: must be ${expected}, not ${JSON.stringify(value).slice(0, 40)}; correct it`

/** Returns what the value of a field must be, unless it is that. */
function expectedOf(node: Node, name: string, type: FieldType, isNeeded: boolean): string | undefined {
  const value = Object.hasOwn(node, name) ? node[name] : undefined
  // An object with a $ref takes its required fields from the target.
  if (value === undefined && (!isNeeded || Object.hasOwn(node, '$ref'))) return undefined
  const [expected, isValid] = fieldTypes[type]
  return isValid(value) ? undefined : expected
}

/**
 * Returns the problem of a reference, if any. The targets of schema references are checked in schema-rules.ts.
 */
function referenceProblem(document: Node, kind: Kind, node: Node): string | undefined {
  const seen = new Set<unknown>()
  for (let found: unknown = node; ; ) {
    if (found === undefined) return `${node.$ref} does not resolve; correct the reference`
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
