import { once } from 'node:events'
import { ContractError, missingBody, tooManyFields } from '../contract/errors.ts'
import { type ContentType, essenceOf, isInRange, isRange } from '../contract/media-types.ts'
import type { Form, FormField } from '../contract/routes.ts'
import { annotationKeywords, type Schema } from '../contract/schema-keywords.ts'
import { type BodyMemory, GrowingBuffer, smallBody } from '../http/body-memory.ts'
import { boundaryOf, type Part, readParts } from '../http/multipart.ts'
import type { ByteSource } from '../http/upload.ts'
import { copyExactNumbers, type JsonDocument } from '../json/json-document.ts'
import type { Limits } from '../limits/limits.ts'
import { type Validator, valueOrThrow } from '../schema/validator.ts'
import { decodePart, isReadableText } from './part-text.ts'
import { textReader } from './text-reader.ts'
import { setMember } from './text-values.ts'

/** The limits of request bodies, and the memory budget that they share. */
export type BodyBounds = { limits: Limits; memory: BodyMemory }

/** A part as a handler gets it: a value, or a file whose bytes are read from the connection on demand. */
export type FormPart =
  | { name: string; value: unknown }
  | { name: string; filename: string | undefined; contentType: string; stream: ByteSource }

/** A form that is being received. `done` resolves when the handler has finished, which frees its memory budget. */
type Arriving = { stream: ByteSource; done: Promise<void> }

type PartField = FormField & {
  part: NonNullable<FormField['part']>
  /** The allowed media types, without parameters; undefined if any is allowed. */
  mediaTypes: string[] | undefined
  /** Returns the part as it was sent, which the schema of the form validates, and its value for the handler. */
  read(text: string): [JsonDocument, unknown]
}

/**
 * Returns a function that reads a form part by part. Each part is validated as it arrives, and the whole form, with an
 * empty text for each file, after the last part. Parts that the schema neither names nor constrains are skipped. The iteration
 * throws a ContractError for an invalid part or form.
 */
export function multipartReader(
  { fields, otherParts }: Form,
  schema: Schema,
  validator: Validator,
  bounds: BodyBounds,
  { shared, isRequired }: { shared: Record<string, Schema>; isRequired: boolean },
): (form: Arriving, contentType: ContentType) => AsyncGenerator<FormPart> {
  const byName = new Map(fields.map((field) => [field.name, partField(field, validator)]))
  const skipped = new Set(otherParts?.skipped)
  const fieldOf = (name: string): PartField | undefined => {
    if (otherParts === undefined || byName.has(name) || skipped.has(name)) return byName.get(name)
    return partField({ ...otherParts.field, name, key: name }, validator)
  }
  // Browsers write %22 for a quote, but also for the same three characters, so the document decides.
  const declaredName = (name: string): string => {
    if (byName.has(name)) return name
    const decoded = name.replace(/%22|%0D|%0A/g, decodeURIComponent)
    if (byName.has(decoded)) return decoded
    // Clients such as axios write the items of a list as `name[]` or `name[0]`.
    const list = /^(.*)\[\d*\]$/s.exec(decoded)?.[1] ?? ''
    return otherParts === undefined && byName.get(list)?.part.isItem === true ? list : name
  }
  const validate = validator.request(schema, 'body')
  const mayRejectName = mayRejectNames(schema, new Set(byName.keys()), shared)
  return ({ stream, done }, { parameters }) => read(stream, boundaryOf(parameters), done)

  async function* read(stream: ByteSource, boundary: string, done: Promise<void>): AsyncGenerator<FormPart> {
    if (await isEmpty(stream)) {
      if (isRequired) throw missingBody('invalid')
      return
    }
    const { count, collect } = fieldCollector(bounds, done)
    const { formFields } = bounds.limits
    const checkIndex = indexChecker()
    let items = 0
    const whole = { value: {}, length: 0 }
    for await (const part of readParts(stream, boundary, formFields)) {
      const name = declaredName(part.name)
      const field = fieldOf(name)
      if (field === undefined) {
        if (mayRejectName && !Object.hasOwn(whole.value, name)) {
          count(Buffer.byteLength(name))
          whole.length += name.length
          setMember(whole.value, name, '')
        }
        continue
      }
      checkPartType({ ...part, name }, field)
      if (name !== part.name) checkIndex(name, part.name)
      if (field.part.isFile) {
        add(whole, field, { value: { [name]: '' }, length: 0 })
        yield { name, filename: part.filename, contentType: sentType(part), stream: part.bytes }
        continue
      }
      const text = decodePart(await collect(part.bytes), part.contentType, `body/${name}`)
      whole.length += text.length
      // Clients of OpenAPI Generator write a list as one part with commas, which no item of a plain list contains. Each item
      // counts as a part, since it costs as much.
      const given = field.isPlain ? text.split(',', formFields + 1) : [text]
      items += given.length
      if (items > formFields) throw tooManyFields(formFields)
      for (const item of given) {
        const [sent, value] = field.read(item)
        add(whole, field, sent)
        yield { name, value }
      }
    }
    valueOrThrow(validate(whole))
  }
}

/**
 * Returns a function that throws a ContractError for an item whose index is not above those before it: the parts arrive one
 * by one, so they cannot be sorted.
 */
function indexChecker(): (list: string, name: string) => void {
  const latest = new Map<string, number>()
  return function checkIndex(list, name) {
    const [, index = ''] = /\[(\d+)\]$/.exec(name) ?? []
    if (index === '') return
    const previous = latest.get(list) ?? -1
    if (Number(index) <= previous)
      throw new ContractError(
        'invalid',
        `body/${list} must have its items in order, but ${name} follows ${list}[${previous}]`,
      )
    latest.set(list, Number(index))
  }
}

/** Waits for the first bytes of a stream. Resolves to whether it ends without any. Rejects if the stream fails. */
async function isEmpty(stream: ByteSource): Promise<boolean> {
  // A stream that was destroyed emits nothing more; reading it reports the reason.
  if (stream.destroyed) return false
  await once(stream, 'readable')
  return stream.readableLength === 0
}

/**
 * Returns the media types that a part may have, without parameters: checkPartType checks the charset. An object is
 * JSON by default (OpenAPI 3.1 section 4.8.15.1).
 */
function mediaTypesOf({ kind, part }: FormField): string[] | undefined {
  const named = part?.mediaTypes ?? (kind === 'json' ? ['application/json'] : undefined)
  return named?.map(essenceOf)
}

/** Returns the media type of a part; the default is text/plain (RFC 7578 section 4.4). */
const sentType = ({ contentType }: Part): string => contentType?.essence ?? 'text/plain'

function partField(field: FormField, validator: Validator): PartField {
  const { name } = field
  const part = field.part as PartField['part']
  // Parts are not percent-encoded, unlike the fields of a URL-encoded form.
  const readText = textReader([field], { part: 'body', decode: (text) => text })
  const validate = validator.request(part.schema, `body/${name}`)
  return {
    ...field,
    part,
    mediaTypes: mediaTypesOf(field),
    read(text) {
      // Read twice, since the validator converts the value for the handler in place.
      const sent = () => readText({ [field.key]: [text] })
      const document: JsonDocument = { value: undefined, length: text.length }
      copyMember(sent(), name, document, document, 'value')
      const value = valueOrThrow(validate(document))
      return [sent(), value]
    },
  }
}

/** Adds a part to the form. Throws a ContractError for the second part of a field that is not an array. */
function add(whole: JsonDocument, { name, part }: PartField, sent: JsonDocument): void {
  const holder = whole.value as Record<string, unknown[]>
  const isKnown = Object.hasOwn(holder, name)
  if (!part.isItem) {
    if (isKnown) throw new ContractError('invalid', `body/${name} must be given once`)
    copyMember(sent, name, whole, holder, name)
    return
  }
  if (!isKnown) setMember(holder, name, [])
  const items = holder[name] as unknown[]
  copyMember(sent, name, whole, items, items.length)
}

/**
 * Throws a ContractError for a part of a media type that the document does not allow, and for text other than UTF-8.
 */
function checkPartType(part: Part, { mediaTypes, part: { isFile } }: PartField): void {
  const { name, contentType } = part
  if (!isFile && !isReadableText(contentType))
    throw new ContractError('unsupportedMediaType', `body/${name}: the charset must be utf-8`)
  const given = sentType(part)
  // Without a media type, a part is text/plain, so that a part of this type has none, either (RFC 7578 section 4.4).
  if (mediaTypes === undefined || (given === 'text/plain' && !isFile)) return
  if (mediaTypes.some((one) => (isRange(one) ? isInRange(one, given) : one === given))) return
  throw new ContractError('unsupportedMediaType', `body/${name} must have the media type ${mediaTypes.join(' or ')}`)
}

/** Counts what a form holds in memory. Both methods throw a ContractError if it exceeds the limit or the budget. */
type FieldCollector = {
  /** Counts bytes that the form holds until it ends. */
  count(bytes: number): void
  /** Reads all bytes of a field and counts them. */
  collect(source: ByteSource): Promise<Buffer>
}

/** Returns the collector of one form. Its fields arrive one by one and count as a body until `done` resolves. */
function fieldCollector({ limits, memory }: BodyBounds, done: Promise<void>): FieldCollector {
  const limit = limits.body
  let total = 0
  let counted = 0
  const check = (length: number): void => {
    if (length > limit) throw new ContractError('bodyTooLarge', `the fields of the form have more than ${limit} bytes`)
  }
  const count = (bytes: number): void => {
    check(total + bytes)
    total += bytes
    const more = total - counted
    if (more < smallBody) return
    // Each value is held twice: for the handler, and to validate the whole form.
    const rejection = memory.checkFits(2 * more, 2 * counted)
    if (rejection !== undefined) throw rejection
    void memory.hold(2 * more, done)
    counted = total
  }
  const collect = async (source: ByteSource): Promise<Buffer> => {
    const buffer = new GrowingBuffer(memory)
    try {
      for await (const chunk of source) {
        check(total + buffer.length + chunk.length)
        const rejection = buffer.add(chunk)
        if (rejection !== undefined) throw rejection
      }
      count(buffer.length)
      return buffer.bytes
    } finally {
      buffer.release()
    }
  }
  return { count, collect }
}

/** Copies a member of one document to another, with its exact numbers. */
function copyMember(
  from: JsonDocument,
  name: string,
  document: JsonDocument,
  holder: object,
  key: string | number,
): void {
  copyExactNumbers(from, from.value as object, { document, holder, key })
  setMember(holder, key, (from.value as Record<string, unknown>)[name])
}

/** Keywords that cannot reject an object for a property that no schema names. */
const indifferent = new Set([
  ...['type', 'properties', 'required', '$ref', 'allOf', 'additionalProperties'],
  ...annotationKeywords,
])

/**
 * Returns whether the schema of a form may reject the form because of a name that is not one of its fields. It may if
 * it requires such a name, restricts additional properties, or has a keyword that is not listed above.
 */
function mayRejectNames(schema: Schema, fields: ReadonlySet<string>, shared: Record<string, Schema>): boolean {
  const mayRefuse = (each: Schema): boolean => {
    if (typeof each === 'boolean') return !each
    const { $ref, allOf = [], required = [], additionalProperties = true } = each as Keywords
    return (
      Object.keys(each).some((keyword) => !indifferent.has(keyword)) ||
      additionalProperties !== true ||
      required.some((name) => !fields.has(name)) ||
      ($ref !== undefined && mayRefuse(shared[$ref.slice(0, -1)] as Schema)) ||
      allOf.some(mayRefuse)
    )
  }
  return mayRefuse(schema)
}

type Keywords = { $ref?: string; allOf?: Schema[]; required?: string[]; additionalProperties?: unknown }
