import { randomUUID } from 'node:crypto'
import type ts from 'typescript'
import { mapScalars, type Node } from '../document/walk-document.ts'
import { typeOfSchema } from './schema-types.ts'
import { commentsOf, keyText, textOf } from './type-printer.ts'
import { addComment, compiler, transformSchemaObject } from './typescript.ts'

/** A type: its text, the members of an object, or what openapi-typescript makes of a schema. */
export type Type = string | Member[] | ts.TypeNode

/** A member of an object type. `about` is the object of the document whose texts stand above it as a comment. */
export type Member = { name: string; type: Type; isOptional?: boolean; about?: unknown }

/** Names of types that openapi-typescript writes, or that the types of schemas use. */
const reserved = ['Array', 'Blob', 'Extract', 'Record']

/** The members of an object that its comment shows. */
const commentKeys = [
  ...['title', 'summary', 'format', 'deprecated', 'description', 'default', 'example', 'examples'],
  ...['const', 'enum', 'type', 'nullable'],
]

/** What openapi-typescript needs for a schema. It resolves a $ref only where `required` stands beside it. */
const options = {
  path: '',
  ctx: {
    discriminators: { objects: {}, refsHandled: [] },
    injectFooter: [],
    resolve: () => undefined,
    transform: typeOfSchema,
  },
}

/**
 * Returns what prints types in the form of openapi-typescript. That package makes the types of schemas; for what holds
 * them it takes more than half of its time.
 */
export function typePrinter() {
  // A comment shows a default or an example, which JSON.stringify would not write with a bigint.
  const mark = randomUUID()
  let isMarked = false
  const taken = new Set(reserved)
  const declared: string[] = []
  return { schemaType, named, printed }

  function withMark(scalar: unknown): unknown {
    if (typeof scalar !== 'bigint') return scalar
    isMarked = true
    return `${mark}${scalar}`
  }

  function schemaType(schema: unknown): Type {
    return transformSchemaObject(mapScalars(schema, withMark), options)
  }

  /**
   * Returns a member whose type has a declaration under the name, or a similar one, unless the type is itself a name. The
   * compiler prints such a name in messages and hints, in place of a type that may have hundreds of members.
   */
  function named(name: string, member: Member, isCommentMoved = false): Member {
    const { type, about } = member
    if (!isStructure(type)) return member
    let unique = name
    for (let count = 2; taken.has(unique); count++) unique = `${name}_${count}`
    taken.add(unique)
    declared.push(`${isCommentMoved ? comment(about, '') : ''}export type ${unique} = ${typeText(type, '')};\n`)
    return { ...member, type: unique, ...(isCommentMoved && { about: undefined }) }
  }

  /** Returns the text of interfaces, by name, and of the declarations under names. */
  function printed(interfaces: Record<string, Member[]>): string {
    let text = ''
    for (const [name, members] of Object.entries(interfaces))
      text +=
        members.length === 0
          ? `export type ${name} = Record<string, never>;\n`
          : `export interface ${name} ${typeText(members, '')}\n`
    text += declared.join('')
    return isMarked ? text.replace(new RegExp(`"?${mark}(-?\\d+)"?`, 'g'), '$1') : text
  }

  function typeText(type: Type, indent: string): string {
    if (typeof type === 'string') return type
    if (!Array.isArray(type)) return textOf(type, indent)
    const inner = `${indent}    `
    let text = '{\n'
    for (const { name, type: own, isOptional, about } of type)
      text += `${comment(about, inner)}${inner}${keyText(name)}${isOptional ? '?' : ''}: ${typeText(own, inner)};\n`
    return `${text}${indent}}`
  }

  function comment(about: unknown, indent: string): string {
    if (typeof about !== 'object' || about === null) return ''
    const shown = commentKeys.filter((key) => Object.hasOwn(about, key))
    if (shown.length === 0) return ''
    const holder = compiler.factory.createOmittedExpression()
    addComment(Object.fromEntries(shown.map((key) => [key, mapScalars((about as Node)[key], withMark)])), holder)
    return commentsOf(holder, indent)
  }
}

const isStructure = (type: Type): boolean =>
  typeof type !== 'string' &&
  (Array.isArray(type) ||
    compiler.isTypeLiteralNode(type) ||
    compiler.isIntersectionTypeNode(type) ||
    compiler.isUnionTypeNode(type))
