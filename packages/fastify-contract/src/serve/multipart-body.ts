import type { ContentType } from '../http/content-type.ts'
import { ContractError } from '../http/errors.ts'
import { boundaryOf, type Part, readParts } from '../http/multipart.ts'
import type { ByteSource } from '../http/tapped-stream.ts'
import { textOf } from '../http/text-body.ts'
import type { JsonDocument } from '../json/json-document.ts'
import { essenceOf, isInRange, isRange } from './media-types.ts'
import { copyMember, type FieldLimits, fieldCollector } from './multipart-fields.ts'
import { textReader } from './parameter-values.ts'
import type { Form, FormField } from './routes.ts'
import { setMember } from './scalar-values.ts'
import type { Schema } from './schema-keywords.ts'
import { mayRejectNames } from './undeclared-names.ts'
import { type Validator, valueOrThrow } from './validator.ts'

/** A part as a handler gets it: a value, or a file whose bytes are read from the connection on demand. */
export type FormPart =
  | { name: string; value: unknown }
  | { name: string; filename: string | undefined; contentType: string; stream: ByteSource }

/** A form that is being received. `over` resolves when the handler is done with it, which frees its memory budget. */
type Arriving = { stream: ByteSource; over: Promise<void> }

type PartField = FormField & {
  part: NonNullable<FormField['part']>
  /** The allowed media types, without parameters; undefined if any is allowed. */
  mediaTypes: string[] | undefined
  /** Returns the part as it was sent, which the schema of the form validates, and its value for the handler. */
  read(text: string): [JsonDocument, unknown]
}

/**
 * Returns a function that reads a form part by part. Each part is validated as it arrives, and the whole form, with an
 * empty text for each file, after the last part. Undeclared parts are skipped. The iteration throws a ContractError for
 * an invalid part or form.
 */
export function multipartReader(
  { fields }: Form,
  schema: Schema,
  validator: Validator,
  limits: FieldLimits & { fields: number },
  shared: Record<string, Schema>,
): (form: Arriving, contentType: ContentType) => AsyncGenerator<FormPart> {
  const byName = new Map(fields.map((field) => [field.name, partField(field, validator)]))
  const validate = validator.request(schema, 'body')
  const mayRejectName = mayRejectNames(schema, new Set(byName.keys()), shared)
  return ({ stream, over }, { parameters }) => read(stream, boundaryOf(parameters), over)

  async function* read(stream: ByteSource, boundary: string, over: Promise<void>): AsyncGenerator<FormPart> {
    const { count, collect } = fieldCollector(limits, over)
    const whole = { value: {}, length: 0 }
    for await (const part of readParts(stream, boundary, limits.fields)) {
      const { name } = part
      const field = byName.get(name)
      if (field === undefined) {
        if (mayRejectName && !Object.hasOwn(whole.value, name)) {
          count(Buffer.byteLength(name))
          whole.length += name.length
          setMember(whole.value, name, '')
        }
        continue
      }
      checkMediaType(part, field)
      if (field.part.isFile) {
        add(whole, field, { value: { [name]: '' } })
        yield { name, filename: part.filename, contentType: sentType(part), stream: part.bytes }
        continue
      }
      const text = textOf(await collect(part.bytes), `body/${name}`)
      whole.length += text.length
      const [sent, value] = field.read(text)
      add(whole, field, sent)
      yield { name, value }
    }
    valueOrThrow(validate(whole))
  }
}

/**
 * Returns the media types that a part may have, without parameters: checkMediaType checks the charset. An object is
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
function checkMediaType(part: Part, { mediaTypes, part: { isFile } }: PartField): void {
  const { name, contentType } = part
  const charset = contentType?.parameters.get('charset') ?? 'utf-8'
  if (!isFile && !/^(?:utf-8|us-ascii)$/i.test(charset)) {
    throw new ContractError('unsupportedMediaType', `body/${name}: the charset must be utf-8`)
  }
  if (mediaTypes === undefined || (contentType === undefined && !isFile)) return
  const given = sentType(part)
  if (mediaTypes.some((one) => (isRange(one) ? isInRange(one, given) : one === given))) return
  throw new ContractError('unsupportedMediaType', `body/${name} must have the media type ${mediaTypes.join(' or ')}`)
}
