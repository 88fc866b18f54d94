import { isAnnotation, isDocumentation } from 'fastify-contract/contract'
import { join } from '../document/json-pointer.ts'
import { acceptsAll } from '../document/schemas.ts'
import { type At, isNode, type Kind, type Node, walk } from '../document/walk-document.ts'
import { pointersIn } from './merge-parts.ts'
import { type PointerMap, pointerMap } from './pointer-map.ts'

/**
 * Rewrites a document in place, so that different notations of one contract look alike: a keyword with its default value
 * is left out, `const` becomes an `enum`, `nullable` a type, an exclusive limit a number, the values of an `enum` are sorted, and a union of a type and `null` becomes a
 * list of types. Returns the original pointers of what moves.
 */
export function toPlainForm(document: object): PointerMap {
  const origins = pointerMap()
  const isEvaluated = /"unevaluated(Items|Properties)":/.test(JSON.stringify(document))
  // Only OpenAPI 3.0 has `nullable`, which adds null to the type beside it (3.0.3, section 4.7.24).
  const isNullable = String((document as Node).openapi).startsWith('3.0.')
  const targets = pointersIn(document)
  const isTarget = (pointer: string) => targets.some((target) => target === pointer || target.startsWith(`${pointer}/`))
  function toPlain(node: Node, kind: Kind, at: At): void {
    for (const keyword of ['style', 'explode']) if (isDefault(node, kind, keyword)) delete node[keyword]
    for (const keyword of flags[kind] ?? []) if (node[keyword] === false) delete node[keyword]
    if (kind !== 'schema') return
    const pointer = at()
    const rename: Rename = (from, to) => origins.set(join(pointer, to), origins.get(join(pointer, ...from)))
    const union = nullableUnion(node)
    if (union !== undefined && !isTarget(join(pointer, union.keyword))) mergeNull(node, union, rename)
    if (node.nullable === true && isNullable && typeof node.type === 'string') node.type = [node.type, 'null']
    delete node.nullable
    for (const limit of ['Minimum', 'Maximum']) {
      const [flag, number] = [`exclusive${limit}`, limit.toLowerCase()]
      if (node[flag] !== true || typeof node[number] !== 'number') continue
      rename([number], flag)
      node[flag] = node[number]
      delete node[number]
    }
    for (const keyword of lengths) if (node[keyword] === 0) delete node[keyword]
    for (const keyword of isEvaluated ? [] : opens) {
      if (acceptsAll(node[keyword]) && !isTarget(join(pointer, keyword))) delete node[keyword]
    }
    if (Array.isArray(node.type) && node.type.length === 1) node.type = node.type[0]
    if (Object.hasOwn(node, 'const') && !Object.hasOwn(node, 'enum')) {
      rename(['const'], 'enum')
      node.enum = [node.const]
      delete node.const
    }
    if (Array.isArray(node.enum)) node.enum = sorted(node.enum)
  }

  walk(document as Node, 'document', '#', toPlain)
  return origins
}

/** The keywords whose default is false (OpenAPI 3.1 section 4.8, and 3.0 for the boolean limits). */
const flags: Partial<Record<Kind, string[]>> = {
  parameter: ['required', 'deprecated', 'allowEmptyValue', 'allowReserved'],
  header: ['required', 'deprecated'],
  requestBody: ['required'],
  operation: ['deprecated'],
  schema: ['readOnly', 'writeOnly', 'deprecated', 'uniqueItems', 'exclusiveMinimum', 'exclusiveMaximum'],
}

const lengths = ['minLength', 'minItems', 'minProperties']

/** The keywords that say nothing with a schema that accepts everything, unless other keywords ask what was evaluated. */
const opens = ['additionalProperties', 'items']

/** Returns whether a parameter or header has the style that it has by default, or explodes as its style does. */
function isDefault(node: Node, kind: Kind, keyword: string): boolean {
  if (kind !== 'parameter' && kind !== 'header') return false
  const usual = node.in === 'query' || node.in === 'cookie' ? 'form' : 'simple'
  const { style = usual } = node
  return node[keyword] === (keyword === 'style' ? usual : style === 'form' || style === 'cookie')
}

type NullableUnion = { keyword: string; index: number; schema: Node; types: unknown[] }

/** Returns the schema of a union of an inline schema and `null` if its keywords say nothing about null. */
function nullableUnion(node: Node): NullableUnion | undefined {
  const [keyword = '', second] = ['oneOf', 'anyOf'].filter((name) => Object.hasOwn(node, name))
  const union = node[keyword]
  if (second !== undefined || !Array.isArray(union) || union.length !== 2 || !union.every(isNode)) return undefined
  const index = union.findIndex(({ type }) => type !== 'null')
  const [schema = {}, none] = [union[index], union[1 - index]]
  const types = [schema.type].flat()
  const isMergeable =
    none?.type === 'null' &&
    Object.keys(none).every((key) => key === 'type' || isDocumentation(key)) &&
    typeof types[0] === 'string' &&
    !types.includes('null') &&
    !Object.keys(schema).some(appliesToNull) &&
    Object.keys(node).every((key) => key === keyword || isAnnotation(key))
  return isMergeable ? { keyword, index, schema, types } : undefined
}

/** Replaces a union of a schema and `null` by the schema with one more type. */
function mergeNull(node: Node, { keyword, index, schema, types }: NullableUnion, rename: Rename): void {
  delete node[keyword]
  for (const [key, value] of Object.entries(schema)) {
    if (Object.hasOwn(node, key)) continue
    node[key] = value
    rename([keyword, String(index), key], key)
  }
  node.type = [...types, 'null']
}

type Rename = (from: string[], to: string) => void

/** The keywords that may accept or refuse null; all others apply to values of one type only. */
const appliesToNull = (keyword: string) =>
  /^(\$.*[rR]ef|enum|const|not|if|then|else|allOf|anyOf|oneOf|nullable|discriminator|default)$/.test(keyword)

/** Returns values in the order of their JSON text. */
const sorted = (values: unknown[]): unknown[] =>
  values
    .map((value) => [JSON.stringify(value), value] as const)
    .sort(([one], [other]) => (one < other ? -1 : Number(one > other)))
    .map(([, value]) => value)
