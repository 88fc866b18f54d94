import { join } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import {
  hasShape,
  isExtension,
  isNode,
  type Kind,
  type Member,
  memberOf,
  type Node,
} from '../document/walk-document.ts'
import { type FieldType, fieldTypes, omitted } from './field-types.ts'
import { lenientSchema } from './lenient-schemas.ts'
import { fieldNames, fieldsOf, isField } from './openapi-fields.ts'

/** How a pass reports what it assumes at a location of a document. */
export type Advise = (pointer: string, text: string) => void

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
  readonly #version: unknown

  constructor(document: Document, advise: Advise, textAt: TextAt) {
    this.#document = document as unknown as Node
    this.#advise = advise
    this.#textAt = textAt
    const [, isValid, mend] = fieldTypes.version
    this.#version = isValid(document.openapi) ? document.openapi : mend(document.openapi)
  }

  mend(): unknown {
    return this.#object(this.#document, 'document', '#')
  }

  #object(given: unknown, kind: Kind, pointer: string): unknown {
    const value = kind === 'schema' ? this.#schemaFrom(given, pointer) : given
    if (!isNode(value)) return value
    // What a reference has beside it is left to the version of OpenAPI.
    if (Object.hasOwn(value, '$ref') && kind !== 'schema' && kind !== 'pathItem') return value
    const node = kind === 'parameter' || kind === 'header' ? this.#withSchema(value, kind, pointer) : value
    let isSame = node === given
    const entries = Object.entries(node).flatMap(([name, held]): [string, unknown][] => {
      const mended = this.#member(held, kind, name, join(pointer, name))
      isSame &&= mended === held
      return mended === omitted ? [] : [[name, mended]]
    })
    const added = this.#missing(node, kind)
    if (isSame && added.length === 0) return this.#whole(node, kind, pointer)
    return this.#whole(Object.fromEntries([...entries, ...added]), kind, pointer)
  }

  /** Returns an object after its members are mended. */
  #whole(node: Node, kind: Kind, pointer: string): Node {
    return kind === 'schema' ? lenientSchema(node, this.#version, pointer, this.#advise) : node
  }

  #member(value: unknown, kind: Kind, name: string, pointer: string): unknown {
    const member = memberOf(kind, name)
    const type = Object.hasOwn(fieldsOf(kind), name) ? fieldsOf(kind)[name] : undefined
    if (member === undefined && type === undefined) {
      if (isField(kind, name)) return value
      this.#advise(pointer, unknownField(kind, name))
      return omitted
    }
    // A requirement that gets lost would open an operation.
    if (value === null && name !== 'security') {
      this.#advise(pointer, 'is null, and ignored; remove it')
      return omitted
    }
    return member === undefined ? this.#field(value, type as FieldType, pointer) : this.#held(value, member, pointer)
  }

  #field(value: unknown, type: FieldType, pointer: string): unknown {
    const [expected, isValid, mend] = fieldTypes[type]
    if (isValid(value)) return value
    const mended = mend(value, (name) => this.#textAt(join(pointer, name)))
    if (mended === undefined || (mended !== omitted && !isValid(mended))) return value
    this.#advise(pointer, assumed(expected, value, mended))
    return mended
  }

  /** Returns what a member holds in its shape: also from an empty map or list in place of the other, as PHP writes it. */
  #held(given: unknown, member: Member, pointer: string): unknown {
    const value = hasShape(given, member) ? given : this.#reshaped(given, member, pointer)
    if (value === omitted || !hasShape(value, member)) return value
    const { shape, kind } = member
    if (shape === 'one') return this.#object(value, kind, pointer)
    const mended: [string, unknown][] = []
    let isSame = value === given
    for (const [key, held] of Object.entries(value as Node)) {
      const isKept = isExtension(member, key)
      const one = isKept ? held : this.#one(held, kind, join(pointer, key))
      isSame &&= one === held
      if (one !== omitted) mended.push([key, one])
    }
    if (isSame) return value
    return shape === 'list' ? mended.map(([, one]) => one) : Object.fromEntries(mended)
  }

  /** Returns an object of a map or a list; in place of null, one without members. */
  #one(held: unknown, kind: Kind, pointer: string): unknown {
    if (held !== null || kind === 'securityScheme') return this.#object(held, kind, pointer)
    if (kind === 'parameter' || kind === 'example') {
      this.#advise(pointer, 'is null, and ignored; remove it')
      return omitted
    }
    this.#advise(pointer, `is null, and read as {}; correct it`)
    return this.#object({}, kind, pointer)
  }

  #reshaped(value: unknown, member: Member, pointer: string): unknown {
    const { shape, kind } = member
    const isEmpty = typeof value === 'object' && Object.keys(value as object).length === 0
    const mended = isEmpty ? (shape === 'list' ? [] : {}) : isNode(value) && kind !== 'example' ? [value] : omitted
    const isCertain = isEmpty || kind === 'example' || (shape === 'list' && isNode(value) && kind === 'schema')
    if (!isCertain) return value
    this.#advise(pointer, assumed(shape === 'list' ? 'an array' : 'an object', value, mended))
    return mended
  }

  /** Returns a schema from a text that can only stand for one: a boolean, or the target of a reference. */
  #schemaFrom(value: unknown, pointer: string): unknown {
    if (typeof value !== 'string') return value
    const schema = value.startsWith('#/') ? { $ref: value } : { true: true, false: false }[value]
    if (schema === undefined) return value
    this.#advise(pointer, assumed('a schema', value, schema))
    return schema
  }

  /** Returns a parameter with the keywords of a schema that it has itself, as in Swagger 2.0. */
  #withSchema(node: Node, kind: Kind, pointer: string): Node {
    if (Object.hasOwn(node, 'schema') || Object.hasOwn(node, 'content')) return node
    const own = Object.entries(node).filter(([name]) => !isField(kind, name) && isField('schema', name))
    if (!own.some(([name]) => name === 'type' || name === 'enum')) return node
    const names = own.map(([name]) => name)
    this.#advise(pointer, `has ${names.join(', ')} beside its name; read as its schema; move them there`)
    const rest = Object.entries(node).filter(([name]) => !names.includes(name))
    return { ...Object.fromEntries(rest), schema: Object.fromEntries(own) }
  }

  /** Returns the members that an object lacks and that a server can do without. */
  #missing(node: Node, kind: Kind): [string, unknown][] {
    // It is for people, and the linter asks for it.
    if (kind === 'response' && (node.description ?? undefined) === undefined) return [['description', '']]
    if (kind === 'document' && node.info === undefined) {
      const [, , mend] = fieldTypes.info
      const info = mend({}, () => undefined)
      this.#advise('#/info', `is missing; assumed to be ${shown(info)}`)
      return [['info', info]]
    }
    return []
  }
}

/** Returns the advice about a member that OpenAPI does not define, with the name that was probably meant. */
function unknownField(kind: Kind, name: string): string {
  const meant = fieldNames(kind).find((one) => one.toLowerCase() === name.toLowerCase())
  const fix = meant === undefined ? 'remove it, or begin its name with x-' : `write ${meant}`
  return `${name} is not a field of ${kindNames[kind] ?? `a ${kind}`}, and ignored; ${fix}`
}

const kindNames: Partial<Record<Kind, string>> = {
  document: 'the document',
  components: 'components',
  pathItem: 'a path item',
  operation: 'an operation',
  requestBody: 'a request body',
  mediaType: 'a media type',
  encoding: 'an encoding',
  example: 'an example',
  securityScheme: 'a security scheme',
}

const shown = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/** Returns the advice about a value of a wrong type. */
const assumed = (expected: string, value: unknown, mended: unknown): string =>
  `must be ${expected}, not ${shown(value)}; ${mended === omitted ? 'ignored' : `read as ${shown(mended)}`}; correct it`
