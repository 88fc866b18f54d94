import type { Schema } from '../contract/schema-keywords.ts'
import { isIgnored } from './exact-keywords.ts'
import { memberCountConditions } from './keyword-conditions.ts'
import { listsAll, requiredOf } from './merged-keywords.ts'
import type { Described } from './type-code.ts'

/*
 * The code of serializers for objects: see type-code.ts.
 */

/** Returns the lines for an object. */
export function objectCode(value: Described): string[] {
  const isListed = value.isRemovalSafe && listsAll(value.merged)
  const isObject = isListed
    ? 'value !== null && Object.getPrototypeOf(value) === Object.prototype'
    : 'value !== null && !Array.isArray(value)'
  return [
    `if (typeof value === "object" && ${isObject}) {`,
    ...(isListed ? listedMembers(value) : membersInOrder(value)),
    '}',
  ]
}

/** What precedes the next member of an object in its text. */
type Position = {
  /** The brace or comma; undefined if only the generated code knows which, in its variable `separator`. */
  separator: string | undefined
  /** The quote at the end of a string, which is appended together with what follows. */
  quote: string
}

/** Returns the lines that append the properties in the order of the schema. */
function listedMembers(value: Described): string[] {
  const isClosed = isClosedBy(value)
  const required = requiredOf(value.described)
  const lines = ['const object = value', ...(isClosed ? ['let count = 0'] : [])]
  const position: Position = { separator: '{', quote: '' }
  for (const [property, schemas] of value.merged.properties) {
    const isRequired = required.has(property)
    const isWritten = !schemas.every(isOnlyIgnored)
    const condition = isWritten ? value.names.textCondition(schemas) : undefined
    if (isWritten && !isRequired) lines.push(...beforeOptional(position, condition !== undefined))
    lines.push(
      '{',
      `const value = object[${JSON.stringify(property)}]`,
      isRequired ? 'if (value === undefined) return undefined' : 'if (value !== undefined) {',
      ...(isWritten ? listedMember(value, position, { property, schemas, condition, isRequired }) : []),
      ...(isClosed ? ['count++'] : []),
      isRequired ? '}' : '}}',
    )
  }
  if (isClosed) lines.push('for (const name in object) count--', 'if (count !== 0) return undefined')
  return [...lines, endOfMembers(position)]
}

/** Returns the lines before a property that may be absent, so that what precedes the one after it varies. */
function beforeOptional(position: Position, isText: boolean): string[] {
  const lines: string[] = []
  if (position.separator === '{') {
    position.separator = undefined
    lines.push('let separator = "{"')
  }
  if (!isText && position.quote !== '') {
    position.quote = ''
    lines.push('text += "\\""')
  }
  return lines
}

type ListedMember = Member & { property: string; isRequired: boolean }

/** Returns the lines that append a property with what precedes it, and moves the position behind it. */
function listedMember(value: Described, position: Position, member: ListedMember): string[] {
  const { property, condition, isRequired } = member
  const { separator, quote } = position
  const isOpen = condition !== undefined && (isRequired || quote !== '')
  const key = `${JSON.stringify(property)}:`
  const before: Before = separator === undefined ? ['separator + ', key] : ['', quote + separator + key]
  const lines = memberLines(value, member, before, isOpen)
  if (isRequired) position.separator = ','
  else if (separator === undefined) lines.push('separator = ","')
  position.quote = isOpen ? '"' : ''
  return lines
}

function endOfMembers({ separator, quote }: Position): string {
  if (separator === undefined) return endOfObject
  return `return text + ${JSON.stringify(`${quote}${separator === '{' ? '{' : ''}}`)}`
}

const endOfObject = 'return text + (separator === "{" ? "{}" : "}")'

/** Returns the lines that append all members in their own order. */
function membersInOrder(value: Described): string[] {
  const { merged, described } = value
  const lines = Array.from(
    requiredOf(described),
    (name) => `if (!Object.hasOwn(value, ${JSON.stringify(name)})) return undefined`,
  )
  lines.push(
    ...memberCountConditions(described).map((condition) => `if (!(${condition})) return undefined`),
    'const object = value',
    'let separator = "{"',
    'for (const name of Object.keys(object)) {',
    'const value = object[name]',
    'if (value === undefined) return undefined',
    'switch (name) {',
  )
  for (const [property, schemas] of merged.properties) {
    const name = JSON.stringify(property)
    const writes = schemas.every(isOnlyIgnored) ? [] : memberInOrder(value, schemas, ['', `${name}:`])
    lines.push(`case ${name}: {`, ...writes, 'break', '}')
  }
  const otherLines = isClosedBy(value)
    ? ['return undefined']
    : memberInOrder(value, merged.others ?? [], ['"\\"" + unquoted(name) + ', '":'])
  return [...lines, 'default: {', ...otherLines, '}', '}', '}', endOfObject]
}

function memberInOrder(value: Described, schemas: Schema[], [code, literal]: Before): string[] {
  const condition = value.names.textCondition(schemas)
  return [...memberLines(value, { schemas, condition }, [`separator + ${code}`, literal]), 'separator = ","']
}

/** The schemas of a member, and the condition for its value if they allow only strings. */
type Member = { schemas: Schema[]; condition: string | undefined }

/** What precedes a member: code that computes the beginning of the text, and the rest. */
type Before = [code: string, literal: string]

/** Returns the lines that append a member with what is before it. If `isOpen`, they leave out the quote at its end. */
function memberLines(
  { names, isRemovalSafe }: Described,
  { schemas, condition }: Member,
  [code, literal]: Before,
  isOpen = false,
): string[] {
  if (condition === undefined) {
    return [
      `text = ${names.writerOf(schemas, isRemovalSafe)}(value, text + ${code}${JSON.stringify(literal)})`,
      'if (text === undefined) return undefined',
    ]
  }
  return [
    `if (!(${condition})) return undefined`,
    `text = text + ${code}${JSON.stringify(`${literal}"`)} + unquoted(value)${isOpen ? '' : ' + "\\""'}`,
  ]
}

/** Returns whether the schemas of an object forbid properties that they do not list. */
const isClosedBy = ({ described }: Described): boolean =>
  described.some(({ additionalProperties }) => additionalProperties === false)

/** Returns whether a property is ignored, whatever its value is. */
const isOnlyIgnored = (schema: Schema): boolean => isIgnored(schema) && Object.keys(schema).length === 1
