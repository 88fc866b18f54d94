/** An entity tag (RFC 9110 section 8.8.3): a strong or a weak one. */
export type EntityTag = `"${string}"` | `W/"${string}"`

/** The value of If-Match or If-None-Match: `*`, or the tags of a list. */
export type TagList = '*' | EntityTag[]

/** Node.js decodes headers as Latin-1, so obs-text is U+0080 to U+00FF. A backslash escapes nothing in a tag. */
const tagPattern = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`

const wholeTag = new RegExp(`^${tagPattern}$`)

/** Matches one element of a list, which may be empty (RFC 9110 section 5.6.1.2), and the comma or the end after it. */
const listElement = new RegExp(String.raw`[ \t]*(?:(${tagPattern})[ \t]*)?(,|$)`, 'y')

/** The maximum number of elements of a list, so that the work for one request stays small. */
export const maxTags = 256

/** Returns whether a value is an entity tag. */
export const isEntityTag = (value: unknown): value is EntityTag => typeof value === 'string' && wholeTag.test(value)

/** Returns the tags of If-Match or If-None-Match; undefined if the value is invalid, or a list of more than 256. */
export function parseTagList(text: string): TagList | undefined {
  if (text.trim() === '*') return '*'
  const tags: EntityTag[] = []
  const element = new RegExp(listElement)
  for (let count = 0; count < maxTags; count++) {
    const found = element.exec(text)
    if (found === null) return undefined
    const [, tag, end] = found
    if (tag !== undefined) tags.push(tag as EntityTag)
    if (end === '') return tags
  }
  return undefined
}

const opaqueTag = (tag: EntityTag): string => tag.replace(/^W\//, '')

/** Compares two tags by weak comparison (RFC 9110 section 8.8.3.2). */
export const weaklyEqual = (one: EntityTag, other: EntityTag): boolean => opaqueTag(one) === opaqueTag(other)

/** Compares two tags by strong comparison (RFC 9110 section 8.8.3.2): a weak tag equals no tag. */
export const stronglyEqual = (one: EntityTag, other: EntityTag): boolean => one === other && !one.startsWith('W/')
