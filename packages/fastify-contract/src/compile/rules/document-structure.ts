import { join, keysOf, resolve } from '../document/json-pointer.ts'
import { eachHeld, hasShape, isNode, type Kind, kindAt, memberOf, type Node } from '../document/walk-document.ts'
import { type FieldType, fieldTypes } from '../lenient/field-types.ts'
import { fieldsOf, isLostSecurity, isRequired, isSecurity } from '../lenient/openapi-fields.ts'

/**
 * Returns one line for each location where the structure of a bundled document violates OpenAPI. Checks only what the
 * generator reads; the linter checks more.
 */
export function structureProblems(document: unknown): string[] {
  const problems: string[] = []
  const targets = new Map<string, Kind>()
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
    if (Object.hasOwn(value, '$ref')) {
      const target = referenceTarget(document as Node, kind, value)
      if ('problem' in target) problems.push(`${pointer}/$ref: ${target.problem}`)
      else targets.set(target.pointer, kind)
    }
    for (const [name, type] of Object.entries(fieldsOf(kind))) {
      const expected = expectedOf(value, name, type, isRequired(kind, name, value))
      if (expected !== undefined) problems.push(wrong(join(pointer, name), expected, value[name]))
    }
    problems.push(...lostSecurity(value, kind, pointer))
    if (kind === 'requestBody' && !['$ref', 'content'].some((name) => Object.hasOwn(value, name)))
      problems.push(wrong(`${pointer}/content`, 'an object with a schema for each media type', undefined))
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
  // Iteration over a Map includes the entries that are added meanwhile.
  for (const [pointer, kind] of targets) {
    // The walk of the document visits targets of their own kind; an extension may hold others.
    if (kind !== 'schema' && kindAt(keysOf(pointer)) !== kind) visit(resolve(document as Node, pointer), kind, pointer)
  }
  const version = (document as { openapi?: unknown } | null)?.openapi
  if (problems.length === 0 && !/^3\.[012]\./.test(version as string))
    problems.push(`#/openapi: ${version} is not supported; use 3.0, 3.1 or 3.2`)
  return problems
}

/**
 * Returns a line for each member that is probably meant as security requirements, but is none of OpenAPI. Its pointer is that
 * of all operations which would be open without it.
 */
function lostSecurity(node: Node, kind: Kind, pointer: string): string[] {
  const own = Object.keys(node).filter((name) => isLostSecurity(kind, name, node[name]))
  if (kind === 'operation') return own.map((name) => `${pointer}: ${lost(name, 'an operation')}; write security`)
  if (kind === 'pathItem')
    return own.map((name) => `${pointer}: ${lost(name, 'a path item')}; write security in each operation`)
  const below = ['paths', 'info'].flatMap((holder) => {
    const held = kind === 'document' && isNode(node[holder]) ? node[holder] : {}
    const names = Object.keys(held).filter((name) => isSecurity(name, held[name]))
    return names.map((name) => ({ name, holder }))
  })
  const all = [...own.map((name) => ({ name, holder: kind === 'document' ? 'the document' : kind })), ...below]
  return all.map(({ name, holder }) => `#: ${lost(name, holder)}; write security beside openapi, or in each operation`)
}

const lost = (name: string, holder: string): string =>
  `${name} is not a field of ${holder}, and without effect it would leave operations open`

const wrong = (pointer: string, expected: string, value: unknown): string =>
  value === undefined
    ? `${pointer}: is missing; add ${expected}`
    : `${pointer}: must be ${expected}, not ${shown(value)}; correct it`

function shown(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value)
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

/** Returns what the value of a field must be, unless it is that. */
function expectedOf(node: Node, name: string, type: FieldType, isNeeded: boolean): string | undefined {
  const value = Object.hasOwn(node, name) ? node[name] : undefined
  // An object with a $ref takes its required fields from the target.
  if (value === undefined && (!isNeeded || Object.hasOwn(node, '$ref'))) return undefined
  const [expected, isValid] = fieldTypes[type]
  return isValid(value) ? undefined : expected
}

/**
 * Returns the pointer to the target of a reference, or its problem. The targets of schema references are checked in
 * schema-rules.ts.
 */
function referenceTarget(document: Node, kind: Kind, node: Node): { pointer: string } | { problem: string } {
  const seen = new Set<unknown>()
  const unexpected = { problem: `${node.$ref} does not resolve to the expected ${kind}; correct it` }
  let pointer = '#'
  for (let found: unknown = node; ; ) {
    if (found === undefined) return { problem: `${node.$ref} does not resolve; correct the reference` }
    if (!isNode(found) || seen.has(found)) return unexpected
    const { $ref } = found
    if ($ref === undefined) return [undefined, kind].includes(kindAt(keysOf(pointer))) ? { pointer } : unexpected
    if (typeof $ref !== 'string') return { problem: 'must be a string; correct it' }
    if (kind === 'schema') return { pointer: $ref }
    if (!$ref.startsWith('#/'))
      return { problem: `${$ref} does not point into this document; use a reference that begins with #/` }
    seen.add(found)
    pointer = $ref
    found = resolve(document, $ref)
  }
}
