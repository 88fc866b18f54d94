import * as fc from 'fast-check'
import type { Form } from 'fastify-contract/contract'
import { filterOrThrow, text } from '../values/arbitrary.ts'
import type { Json } from '../values/json-notations.ts'
import { fieldOf, isCertainForm, isMembers, withoutUncertain } from './form-values.ts'
import type { BodyPart } from './operation-parts.ts'
import type { ValueSources } from './value-sources.ts'

/** The value of a body, or its bytes. */
export type BodyValue = Json | Uint8Array

/** Media types of text and bytes whose content no server interprets. */
const opaque = ['text/plain', 'application/octet-stream']

/**
 * Returns the values of a body that every server accepts. Throws an error if none are found, or if the content of the
 * media type is not known, such as that of an image: servers other than those of this engine may check it.
 */
export function bodyValues(sources: ValueSources, part: BodyPart, isOwn: boolean): fc.Arbitrary<BodyValue> {
  const { kind, schema, isChecked, mediaType } = part
  const isCertain = (value: Json) => isCertainBody(sources, part, value)
  const named = `body ${mediaType}`
  if (kind === 'json') return filterOrThrow(sources.bodies.valid(schema), isCertain, named)
  if (kind === 'lines' || kind === 'events') {
    const items = filterOrThrow(sources.bodies.valid(schema), (item) => isCertain([item]), named)
    return fc.array(items, { minLength: 1, maxLength: 3 })
  }
  if (kind === 'form' || kind === 'multipart') {
    if (!isOwn && hasTypedFile(part)) throw new Error(`${named}: the content of a file of its type is not known`)
    const values = bodySource(sources, part).valid(schema)
    const accepts = (one: Json) => sources.accepts(schema, one)
    const certain = values.map((value) => withoutUncertain(part.form as Form, withFiles(part, value), accepts))
    return filterOrThrow(certain, isCertain, named)
  }
  if (isChecked) return filterOrThrow(sources.bodies.valid(schema), isCertain, named)
  if (!isOwn && !opaque.includes(mediaType)) throw new Error(`${named}: its content is not known; give an example`)
  return kind === 'text' ? text({ minLength: 1, maxLength: 40 }) : fc.uint8Array({ minLength: 1, maxLength: 100 })
}

/** Returns the generator of the values of a body; for a form, of plain texts if a field is written with delimiters. */
export const bodySource = ({ lists, texts, bodies }: ValueSources, { kind, form }: BodyPart) => {
  if (kind !== 'form') return bodies
  return form?.fields.every((field) => field.kind === 'scalar' || field.kind === 'json') ? texts : lists
}

/** Returns whether a file of a form has a media type whose content a server may check. */
const hasTypedFile = ({ form }: BodyPart): boolean =>
  form?.fields.some(({ part }) => part?.isFile && part.mediaTypes?.some((type) => !opaque.includes(type))) === true

/** Returns a form with a text as the content of each file. */
function withFiles(part: BodyPart, value: Json): Json {
  if (part.kind !== 'multipart' || !isMembers(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const field = fieldOf(part.form as Form, name)
      if (!field?.part?.isFile) return [name, member]
      return [name, field.part.isItem ? [member].flat().map(contentOf) : contentOf(member)]
    }),
  )
}

const contentOf = (value: Json): Json => (typeof value === 'string' && value !== '' ? value : 'file')

/** Returns whether every server accepts a value as the body, and reads it as it is. */
export function isCertainBody(sources: ValueSources, part: BodyPart, value: Json): boolean {
  const { kind, schema } = part
  const accepts = (one: Json) => sources.accepts(schema, one)
  if (kind === 'json') return accepts(value)
  if (kind === 'lines') return [value].flat().every(accepts)
  if (kind === 'events') return [value].flat().every((item) => accepts(item) && isEventData(item))
  if (kind === 'form' || kind === 'multipart') return accepts(value) && isCertainForm(part.form as Form, value, accepts)
  return typeof value === 'string' && value !== '' && (!part.isChecked || accepts(value))
}

/** A text is sent as it is, so it must not look like JSON or have several lines. */
const isEventData = (value: Json): boolean => typeof value !== 'string' || /^[A-Za-z]\w*$/.test(value)
