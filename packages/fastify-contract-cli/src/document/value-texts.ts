import { type Schema, schemasIn } from 'fastify-contract/contract'
import { compilePattern, type PatternElement, syntaxOf } from 'fastify-contract/schema'
import type { Document } from './openapi-document.ts'
import { schemasDescribing } from './schemas.ts'
import type { Node } from './walk-document.ts'

/** Formats whose values are neither empty nor contain a comma. */
const plainFormats = ['uuid', 'date', 'date-time', 'time', 'duration', 'ipv4', 'ipv6']

/** Keywords that only combine other schemas. */
const combining = ['$ref', 'allOf', 'anyOf', 'oneOf']

/** Returns the schemas of the items of a list. The items after those of `prefixItems` may be anything without `items`. */
function itemsOf(document: Document, schema: Schema | undefined): Node[] {
  const lists = schemasDescribing(document, [schema], combining)
  const given = lists.flatMap((list) => [
    ...['items', 'prefixItems'].flatMap((keyword) => schemasIn(list, keyword)),
    ...('prefixItems' in list && !('items' in list) ? [{}] : []),
  ])
  return schemasDescribing(document, given, combining)
}

/**
 * Returns whether no item of a list is empty or contains a comma: each schema of the items allows only numbers, booleans,
 * such formats, listed values, or texts of a pattern without commas.
 */
export function isPlainList(document: Document, schema: Schema | undefined): boolean {
  const items = itemsOf(document, schema)
  return items.length > 0 && items.every(isPlainItem)
}

function isPlainItem(item: Node): boolean {
  const { type, format, pattern, enum: values, const: value } = item
  const listed = value === undefined ? values : [value]
  if (Array.isArray(listed)) return listed.every((one) => one !== null && !/^$|[,%]/.test(String(one)))
  if (type === undefined) return combining.some((keyword) => keyword in item)
  return [type]
    .flat()
    .every(
      (one) =>
        ['integer', 'number', 'boolean'].includes(one as string) ||
        (one === 'string' && (plainFormats.includes(format as string) || isPlainPattern(pattern))),
    )
}

/**
 * Returns whether a pattern matches whole texts only, none of which is empty or contains a comma or a percent sign. It
 * looks at the characters that each element of the pattern matches, and so takes a doubtful pattern for no such one.
 */
function isPlainPattern(pattern: unknown): boolean {
  if (typeof pattern !== 'string') return false
  try {
    const expression = compilePattern(pattern)
    const flags = expression.flags
    const isPlain = (element: PatternElement): boolean => {
      if (element.type === 'Quantifier') return isPlain(element.element)
      if (element.type === 'Group' || element.type === 'CapturingGroup')
        return element.alternatives.every(({ elements }) => elements.every(isPlain))
      if (element.type === 'Assertion' || element.type === 'Backreference') return true
      const character = new RegExp(`^${element.raw}$`, flags)
      return !character.test(',') && !character.test('%')
    }
    return (
      !expression.test('') &&
      syntaxOf(expression).alternatives.every(
        ({ elements }) => isEdge(elements[0], 'start') && isEdge(elements.at(-1), 'end') && elements.every(isPlain),
      )
    )
  } catch {
    return false
  }
}

const isEdge = (element: PatternElement | undefined, kind: 'start' | 'end'): boolean =>
  element?.type === 'Assertion' && element.kind === kind

/** Returns whether each string of a value, or of its items, is a date-time or a time, which contains no space. */
export function isTime(document: Document, schema: Schema | undefined): boolean {
  const described = [...schemasDescribing(document, [schema], combining), ...itemsOf(document, schema)]
  const isTimeFormat = ({ format }: Node) => format === 'date-time' || format === 'time'
  return described.some(isTimeFormat) && described.every((each) => isTimeFormat(each) || !mayBeText(each))
}

/** Returns whether a schema allows strings other than those of the schemas that it combines. */
const mayBeText = (each: Node): boolean => {
  const { type, enum: values, const: value } = each
  if (type === undefined && values === undefined && value === undefined)
    return !combining.some((keyword) => keyword in each)
  return type === undefined || [type].flat().includes('string')
}
