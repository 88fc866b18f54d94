import { isDocumentation } from 'fastify-contract/contract'
import { stringifyJson } from 'fastify-contract/json'
import { join, keysOf, resolve } from '../../document/json-pointer.ts'
import { type Document, isIgnored, type Parameter } from '../../document/openapi-document.ts'
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
  withoutKeys,
} from '../../document/walk-document.ts'
import type { Advise } from '../../reports/reports.ts'
import { type FieldType, fieldTypes, omitted } from './field-types.ts'
import { lenientSchema } from './lenient-schemas.ts'
import { isLostSecurity, isSecurityName, withOperationSecurity } from './lenient-security.ts'
import { lenientValues } from './lenient-values.ts'
import { withListedItems, withNamesInCase } from './meant-members.ts'
import { fieldsOf, isField, nameOfKind, replacementOf } from './openapi-fields.ts'

/** Returns the text of a value in the file of the document; undefined if there is none. */
export type TextAt = (pointer: string) => string | undefined

/**
 * Returns a bundled document in which the structure is mended wherever its author's meaning is certain, or a server does
 * not need what is wrong. Reports each change. What stays wrong is left to document-structure.ts.
 */
export const lenientStructure = (document: Document, advise: Advise, textAt: TextAt): Document =>
  new StructureMender(document, advise, textAt).mend() as Document

class StructureMender {
  readonly #document: Node
  readonly #advise: Advise
  readonly #textAt: TextAt
  readonly #is30: boolean
  /** The keys that lead to the object or the member that is mended. */
  readonly #path: string[] = []

  constructor(document: Document, advise: Advise, textAt: TextAt) {
    this.#document = document as unknown as Node
    this.#advise = advise
    this.#textAt = textAt
    const { isValid, mend } = fieldTypes.version
    this.#is30 = /^3\.0\b/.test(String(isValid(document.openapi) ? document.openapi : mend(document.openapi)))
  }

  mend(): unknown {
    return this.#object(this.#document, 'document')
  }

  #at: At = (...keys) => join('#', ...this.#path, ...keys)

  #object(given: unknown, kind: Kind): unknown {
    const value = kind === 'schema' ? this.#schemaFrom(given) : given
    if (!isNode(value)) return value
    const own = kind === 'header' ? this.#headerFrom(value) : value
    const node = this.#prepared(own, kind)
    if (Object.hasOwn(node, '$ref') && kind !== 'schema' && kind !== 'pathItem') {
      this.#adviseOnReference(node, kind)
      return node
    }
    const mended = this.#each(node, (held, name) => this.#member(held, kind, name))
    const added = this.#missing(node, kind)
    return this.#whole(added.length === 0 ? mended : { ...mended, ...Object.fromEntries(added) }, kind)
  }

  /** Returns an object with mended members, without those that are omitted. It is not copied if they stay the same. */
  #each(node: Node, mend: (held: unknown, name: string) => unknown): Node {
    let changed: Map<string, unknown> | undefined
    for (const name in node) {
      this.#path.push(name)
      const mended = mend(node[name], name)
      this.#path.pop()
      if (mended !== node[name]) changed = (changed ?? new Map()).set(name, mended)
    }
    if (changed === undefined) return node
    const entries: [string, unknown][] = []
    for (const [name, held] of Object.entries(node)) {
      const mended = changed.has(name) ? changed.get(name) : held
      if (mended !== omitted) entries.push([name, mended])
    }
    return Object.fromEntries(entries)
  }

  /** Returns the header that a parameter describes, in place of a reference to the parameter. */
  #headerFrom(value: Node): Node {
    if (!isPointerTo('parameter', value.$ref)) return value
    const parameter = resolve(this.#document, String(value.$ref))
    if (!isNode(parameter) || parameter.in !== 'header') return value
    this.#advise(
      'header-as-parameter',
      this.#at(),
      `${value.$ref} is a parameter; read as a header; describe it in headers`,
    )
    const { name: _, in: __, ...header } = parameter
    return header
  }

  /** Returns an object with the members that its author meant, before they are mended. */
  #prepared(value: Node, kind: Kind): Node {
    const node = withNamesInCase(value, kind, this.#at, this.#advise)
    if (kind === 'pathItem') return withOperationSecurity(node, this.#at, this.#advise)
    if (kind === 'schema') return withListedItems(node, this.#at, this.#advise)
    return ['parameter', 'header', 'mediaType'].includes(kind) ? this.#withSchema(node, kind) : node
  }

  /** Returns an object after its members are mended. */
  #whole(node: Node, kind: Kind): Node {
    // What a value or a keyword means beside a wrong type is unknown.
    if (kind !== 'schema' || (node.type !== undefined && !fieldTypes.type.isValid(node.type))) return node
    if (typeof node.$ref === 'string' && this.#is30) this.#adviseOnReference(node, kind)
    const plain = lenientValues(node, this.#at, this.#advise, this.#textAt)
    return lenientSchema(plain, this.#is30, this.#at, this.#advise)
  }

  /** Reports the fields beside a reference: they are ignored, except in schemas since OpenAPI 3.1. */
  #adviseOnReference(node: Node, kind: Kind): void {
    const fields = Object.keys(node).filter((name) => isField(kind, name) && !isHarmless(name))
    if (fields.length > 0)
      this.#advise('field-beside-reference', this.#at(), `${fields.join(', ')}: no effect beside $ref; remove it`)
  }

  #member(value: unknown, kind: Kind, name: string): unknown {
    const member = memberOf(kind, name)
    const type = fieldsOf(kind).get(name)
    if (member === undefined && type === undefined) {
      if (isField(kind, name) || isLostSecurity(kind, name, value)) return value
      this.#advise('unknown-field', this.#at(), unknownField(kind, name, value))
      return omitted
    }
    if (value === null && member?.kind === 'operation') return this.#empty('operation')
    // A requirement that gets lost would open an operation. `type: null` without quotes names a type; `type:` without a
    // value does not.
    if (value === null && name !== 'security' && !(type === 'type' && this.#textAt(this.#at()) !== '')) {
      this.#advise('null-field', this.#at(), 'is null, and ignored; remove it')
      return omitted
    }
    return member === undefined ? this.#field(value, type as FieldType) : this.#held(value, member)
  }

  #field(value: unknown, type: FieldType): unknown {
    const { expected, isValid, mend } = fieldTypes[type]
    if (isValid(value)) return value
    const mended = mend(value, (name) => this.#textAt(this.#at(name)))
    if (mended === undefined || (mended !== omitted && !isValid(mended))) return value
    if (type === 'info' && isNode(value)) this.#adviseOnInfo(value, mended as Node)
    else if (type === 'names' && mended === omitted)
      this.#advise(
        'required-in-property',
        this.#at(),
        `must be ${expected}, not ${value}; ignored; name the property in required of its object`,
      )
    else this.#advise('convertible-type', this.#at(), assumed(expected, value, mended))
    return mended
  }

  #adviseOnInfo(given: Node, mended: Node): void {
    for (const name of ['title', 'version'].filter((each) => given[each] !== mended[each])) {
      const value = given[name]
      const text = value === undefined ? missing(mended[name]) : assumed('a string', value, mended[name])
      this.#advise(value === undefined ? 'missing-info' : 'convertible-type', this.#at(name), text)
    }
  }

  /** Returns what a member holds in its shape: also from an empty map or list in place of the other, as PHP writes it. */
  #held(given: unknown, member: Member): unknown {
    const value = hasShape(given, member) ? given : this.#reshaped(given, member)
    if (value === omitted || !hasShape(value, member)) return value
    const { shape, kind } = member
    if (shape === 'one') return this.#object(value, kind)
    const mended = this.#each(value as Node, (held, key) =>
      isExtension(member, key) || (kind === 'pathItem' && isSecurityName(key)) ? held : this.#one(held, kind),
    )
    return shape === 'list' && mended !== value ? Object.values(mended) : mended
  }

  /** Returns an object of a map or a list; in place of null, one without members. */
  #one(held: unknown, kind: Kind): unknown {
    if (kind === 'response' && typeof held === 'string') {
      const response = held.startsWith('#/') ? { $ref: held } : { description: held }
      this.#advise('convertible-type', this.#at(), assumed('an object', held, response))
      return response
    }
    if (kind === 'example' && held !== null && !isNode(held)) {
      this.#advise('convertible-type', this.#at(), assumed('an object', held, omitted))
      return omitted
    }
    if (kind === 'example' && isNode(held) && !this.#isExample(held)) {
      this.#advise(
        'needless-reference',
        this.#at(),
        `${held.$ref} is no example, so it is ignored; correct the reference`,
      )
      return omitted
    }
    if (held !== null || kind === 'securityScheme') return this.#object(held, kind)
    if (kind === 'parameter' || kind === 'example') {
      this.#advise('null-field', this.#at(), 'is null, and ignored; remove it')
      return omitted
    }
    return this.#empty(kind)
  }

  /** Returns whether an object is an example, or leads to one. */
  #isExample(held: unknown, passed: unknown[] = []): boolean {
    if (!isNode(held) || passed.includes(held)) return false
    const { $ref } = held
    if ($ref === undefined) return true
    const isPossible = typeof $ref === 'string' && $ref.startsWith('#/')
    if (!isPossible || ![undefined, 'example'].includes(kindAt(keysOf($ref)))) return false
    return this.#isExample(resolve(this.#document, $ref), [...passed, held])
  }

  /** Returns an object without members, in place of null. */
  #empty(kind: Kind): unknown {
    this.#advise('null-field', this.#at(), `is null, and read as {}; correct it`)
    return this.#object({}, kind)
  }

  #reshaped(value: unknown, member: Member): unknown {
    const { shape, kind } = member
    const isEmpty = typeof value === 'object' && Object.keys(value as object).length === 0
    const mended = isEmpty
      ? shape === 'list'
        ? []
        : {}
      : isNode(value) && !needless.includes(kind)
        ? [value]
        : omitted
    const isSchema = isNode(value) && kind === 'schema' && Object.keys(value).every((name) => isField(kind, name))
    const isCertain = isEmpty || needless.includes(kind) || (shape === 'list' && isSchema)
    if (!isCertain) return value
    this.#advise('convertible-type', this.#at(), assumed(shape === 'list' ? 'an array' : 'an object', value, mended))
    return mended
  }

  /** Returns a schema from a text that can only stand for one: a boolean, a type, or the target of a reference. */
  #schemaFrom(value: unknown): unknown {
    if (typeof value !== 'string') return value
    const isType = fieldTypes.type.isValid(value)
    const schema = value.startsWith('#/')
      ? { $ref: value }
      : isType
        ? { type: value }
        : { true: true, false: false }[value]
    if (schema === undefined) return value
    this.#advise('convertible-type', this.#at(), assumed('a schema', value, schema))
    return schema
  }

  /** Returns an object with the keywords of a schema that it has itself, like a parameter of Swagger 2.0. */
  #withSchema(node: Node, kind: Kind): Node {
    if (Object.hasOwn(node, 'schema') || Object.hasOwn(node, 'content')) return node
    const toSchema = kind === 'mediaType' && isPointerTo('schema', node.$ref)
    const isOwn = (name: string) => (name === '$ref' ? toSchema : !isField(kind, name) && isField('schema', name))
    const names = Object.keys(node).filter(isOwn)
    if (!names.some((name) => ['type', 'enum', '$ref', 'properties'].includes(name))) return node
    const fix = names.length === 1 ? 'move it there' : 'move them there'
    this.#advise(
      'keywords-outside-schema',
      this.#at(),
      `has ${names.join(', ')} outside of its schema; read as its schema; ${fix}`,
    )
    const rest = withoutKeys(node, names)
    return { ...rest, schema: withoutKeys(node, Object.keys(rest)) }
  }

  /** Returns the members that an object lacks and that a server can do without. */
  #missing(node: Node, kind: Kind): [string, unknown][] {
    // It is for people, and the linter asks for it.
    if (kind === 'response' && (node.description ?? undefined) === undefined) return [['description', '']]
    // The rules report that it has no media type.
    if (kind === 'requestBody' && (node.content ?? undefined) === undefined) return [['content', {}]]
    if (kind === 'parameter' && lacksSchema(node)) {
      this.#advise(
        'parameter-without-schema',
        this.#at(),
        `parameter ${node.name} has no schema; it is served as a string of any form; add one`,
      )
      return [['schema', { type: 'string' }]]
    }
    if (kind === 'document' && node.info === undefined) {
      const info = fieldTypes.info.mend({}, () => undefined)
      this.#advise('missing-info', '#/info', missing(info))
      return [['info', info]]
    }
    return []
  }
}

/** Returns whether a parameter of a request is not described at all. */
function lacksSchema({ in: location, name, schema, content }: Node): boolean {
  if ((schema ?? content ?? undefined) !== undefined || typeof name !== 'string') return false
  const known = String(location).toLowerCase()
  return ['path', 'query', 'header', 'cookie'].includes(known) && !isIgnored({ in: known, name } as Parameter)
}

/** The kinds of objects that a service does without. */
const needless: Kind[] = ['example', 'callback']

/** Returns whether a value is a pointer to an object of a kind. */
const isPointerTo = (kind: Kind, value: unknown): boolean =>
  typeof value === 'string' && value.startsWith('#/') && kindAt(keysOf(value)) === kind

/** Fields that a service ignores wherever they stand, or that another rule reports. */
const harmless = ['$ref', 'summary', 'deprecated', 'default', 'nullable']
const isHarmless = (name: string): boolean => harmless.includes(name) || isDocumentation(name)

/** Returns the advice about a member that OpenAPI does not define, with what was probably meant. */
function unknownField(kind: Kind, name: string, value: unknown): string {
  const meant = replacementOf(kind, name)
  const isProperty = kind === 'schema' && isNode(value)
  const other = isProperty ? 'move it to properties' : 'remove it, or begin its name with x-'
  const fix = meant === undefined ? other : `write ${meant}`
  return `${name} is not a field of ${nameOfKind(kind)}, and ignored; ${fix}`
}

const shown = (value: unknown): string => {
  const text = String(stringifyJson(value))
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

const missing = (value: unknown): string => `is missing; assumed to be ${shown(value)}; add it`

/** Returns the advice about a value of a wrong type. */
const assumed = (expected: string, value: unknown, mended: unknown): string =>
  `must be ${expected}, not ${shown(value)}; ${mended === omitted ? 'ignored' : `read as ${shown(mended)}`}; correct it`
