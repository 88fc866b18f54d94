import { stringifyJson } from 'fastify-contract/json'
import { join, keysOf, resolve } from '../document/json-pointer.ts'
import {
  type At,
  hasShape,
  isExtension,
  isNode,
  type Kind,
  kindAt,
  type Member,
  memberOf,
  type Node,
} from '../document/walk-document.ts'
import { type FieldType, fieldTypes } from '../passes/lenient/field-types.ts'
import { isLostSecurity, isSecurityName } from '../passes/lenient/lenient-security.ts'
import { fieldsOf, requiredFields } from '../passes/lenient/openapi-fields.ts'
import { type Refused, refusal } from '../reports/reports.ts'

/**
 * Returns one line for each location where the structure of a bundled document violates OpenAPI. Checks only what the
 * generator reads; the linter checks more.
 */
export function structureProblems(document: unknown): string[] {
  const problems: string[] = []
  const targets = new Map<string, Kind>()
  let start = '#'
  const path: string[] = []
  const at: At = (...keys) => join(start, ...path, ...keys)

  function visit(value: unknown, kind: Kind, name = ''): void {
    if (!name.isWellFormed() || !nameOf(kind, value).isWellFormed())
      problems.push(
        refusal('lone-surrogate', at(), 'its name contains a lone surrogate, which no request can contain; remove it'),
      )
    if (!isNode(value)) {
      if (kind !== 'schema' || typeof value !== 'boolean') problems.push(wrong(at(), 'an object', value))
      return
    }
    if (Object.hasOwn(value, '$ref')) {
      if (kind === 'operation')
        problems.push(
          refusal(
            'reference-to-operation',
            `${at()}/$ref`,
            'an operation cannot be a reference; write it here, or refer to its path item',
          ),
        )
      const target = referenceTarget(document as Node, kind, value)
      if ('problem' in target) problems.push(refusal(target.kind, `${at()}/$ref`, target.problem))
      else targets.set(target.pointer, kind)
    }
    if (hasWrongField(value, kind)) {
      for (const [name, type] of fieldsOf(kind)) {
        const expected = expectedOf(value, kind, name, type)
        if (expected !== undefined) problems.push(wrong(at(name), expected, value[name]))
      }
    }
    if (kind === 'requestBody' && !['$ref', 'content'].some((name) => Object.hasOwn(value, name)))
      problems.push(wrong(at('content'), 'an object with a schema for each media type', undefined))
    // The other fields that OpenAPI does not define have been left out. Schemas hold no requirements.
    for (const name of kind === 'schema' ? [] : Object.keys(value)) {
      if (!isLostSecurity(kind, name, value[name])) continue
      problems.push(
        refusal(
          'misplaced-security',
          at(),
          `${name} is a security requirement in the wrong place; write it as security of an operation`,
        ),
      )
    }
    // A wrong indentation of YAML moves the requirements of the document below another field.
    for (const holder of kind === 'document' ? ['paths', 'info'] : [])
      for (const name of Object.keys(Object(value[holder])).filter(isSecurityName))
        problems.push(
          refusal(
            'misplaced-security',
            '#',
            `${name} is a security requirement below ${holder}; write it beside openapi`,
          ),
        )
    for (const name in value) {
      const member = memberOf(kind, name)
      if (member === undefined) continue
      path.push(name)
      visitMember(value[name], member)
      path.pop()
    }
  }

  function visitMember(value: unknown, member: Member): void {
    if (member.shape === 'one') visit(value, member.kind)
    else if (!hasShape(value, member))
      problems.push(wrong(at(), member.shape === 'list' ? 'an array' : 'an object', value))
    else
      for (const key in value as Node) {
        if (isExtension(member, key)) continue
        path.push(key)
        visit((value as Node)[key], member.kind, key)
        path.pop()
      }
  }

  const { swagger } = Object(document) as { swagger?: unknown }
  if (swagger !== undefined)
    return [
      refusal(
        'unsupported-version',
        '#/swagger',
        `this is Swagger ${swagger}, which is not supported; convert the document to OpenAPI 3 first`,
      ),
    ]
  visit(document, 'document')
  // Iteration over a Map includes the entries that are added meanwhile.
  for (const [pointer, kind] of targets) {
    // The walk of the document visits targets of their own kind; an extension may hold others.
    const keys = keysOf(pointer)
    if (kind === 'schema' || kindAt(keys) === kind) continue
    start = pointer
    visit(resolve(document as Node, pointer), kind, keys.at(-1))
  }
  const version = (document as { openapi?: unknown } | null)?.openapi
  if (problems.length === 0 && !/^3\.[012]\./.test(version as string))
    problems.push(refusal('unsupported-version', '#/openapi', `${version} is not supported; use 3.0, 3.1 or 3.2`))
  return problems
}

/** Returns the name that an object has in requests and handlers; an empty text for most objects. */
function nameOf(kind: Kind, value: unknown): string {
  if (kind === 'parameter') return String(Object(value).name)
  return kind === 'operation' ? String(Object(value).operationId) : ''
}

const wrong = (pointer: string, expected: string, value: unknown): string =>
  value === undefined
    ? refusal('missing-field', pointer, `is missing; add ${expected}`)
    : refusal('wrong-type', pointer, `must be ${expected}, not ${shown(value)}; correct it`)

function shown(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : String(stringifyJson(value))
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

/** Returns whether `expectedOf` finds a field of an object. It asks only for the fields that the object has or must have. */
function hasWrongField(node: Node, kind: Kind): boolean {
  const fields = fieldsOf(kind)
  for (const name in node) {
    const type = fields.get(name)
    if (type !== undefined && !fieldTypes[type].isValid(node[name])) return true
  }
  return requiredFields(kind, node).some((name) => !Object.hasOwn(node, name))
}

/** Returns what the value of a field must be, unless it is that. */
function expectedOf(node: Node, kind: Kind, name: string, type: FieldType): string | undefined {
  const value = Object.hasOwn(node, name) ? node[name] : undefined
  // An object with a $ref takes its required fields from the target.
  if (value === undefined && (Object.hasOwn(node, '$ref') || !requiredFields(kind, node).includes(name)))
    return undefined
  const { expected, isValid } = fieldTypes[type]
  return isValid(value) ? undefined : expected
}

/**
 * Returns the pointer to the target of a reference, or its problem. The targets of schema references are checked in
 * schema-rules.ts.
 */
function referenceTarget(
  document: Node,
  kind: Kind,
  node: Node,
): { pointer: string } | { kind: Refused; problem: string } {
  if (kind === 'schema' && typeof node.$ref === 'string') return { pointer: node.$ref }
  const seen = new Set<unknown>()
  const unexpected = {
    kind: 'reference-to-another-kind',
    problem: `${node.$ref} does not resolve to the expected ${kind}; correct it`,
  } as const
  let pointer = '#'
  for (let found: unknown = node; ; ) {
    if (found === undefined)
      return { kind: 'reference-without-target', problem: `${node.$ref} does not resolve; correct the reference` }
    if (!isNode(found) || seen.has(found)) return unexpected
    const { $ref } = found
    if ($ref === undefined) return [undefined, kind].includes(kindAt(keysOf(pointer))) ? { pointer } : unexpected
    if (typeof $ref !== 'string') return { kind: 'wrong-type', problem: 'must be a string; correct it' }
    if (!$ref.startsWith('#/'))
      return {
        kind: 'reference-without-target',
        problem: `${$ref} does not point into this document; use a reference that begins with #/`,
      }
    seen.add(found)
    pointer = $ref
    found = resolve(document, $ref)
  }
}
