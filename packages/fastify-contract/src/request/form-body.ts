import { ContractError, tooManyFields } from '../contract/errors.ts'
import type { Form, FormField } from '../contract/routes.ts'
import type { Schema } from '../contract/schema-keywords.ts'
import { decodeUtf8 } from '../http/decode-utf8.ts'
import { decodeText, parseQuery } from '../http/request-head.ts'
import type { JsonDocument } from '../json/json-document.ts'
import type { ValidatePart, Validator } from '../schema/validator.ts'
import { hasBrackets, nameMatcher, textReader, validReader } from './text-reader.ts'
import { setMember, setScalar } from './text-values.ts'

/** The percent-encoded values of a form (application/x-www-form-urlencoded) by name, and the length of its text. */
export type FormTexts = { texts: Record<string, string[]>; length: number }

/** Returns a parser for forms with at most `fieldsLimit` fields. */
export function formParser(fieldsLimit: number): (bytes: Buffer) => FormTexts {
  return parseForm

  function parseForm(bytes: Buffer): FormTexts {
    const text = decodeUtf8(bytes, 'body')
    // Counted before parsing, since a parsed field with a name of one byte takes a hundred bytes of memory.
    if (countFields(text) > fieldsLimit) throw tooManyFields(fieldsLimit)
    if (/%00/.test(text)) throw new ContractError('invalid', 'body contains the character U+0000')
    try {
      decodeText(text)
    } catch {
      throw new ContractError('invalid', 'body is not percent-encoded UTF-8')
    }
    return { texts: parseQuery(text), length: text.length }
  }
}

function countFields(text: string): number {
  let count = 1
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) count++
  return count
}

/** Returns a function that reads and validates the body of a form. The error of an invalid one has status 400. */
export function formValidator(
  form: Form,
  schema: Schema,
  validator: Validator,
): (body: FormTexts) => ReturnType<ValidatePart> {
  const read = formReader(form, { part: 'body', decode: decodeText })
  return validReader({ values: form.fields, part: 'body' }, read, validator.request(schema, 'body'))
}

/**
 * Returns a function that converts the texts of a form to typed values. Like `parseJson` it keeps inexact numbers
 * exactly. It throws a ContractError for a text that does not follow the style of its field.
 */
export function formReader(
  { fields, otherTypes }: Form,
  source: { part: string; decode(text: string): string },
): (form: FormTexts, others?: ReadonlySet<string>) => JsonDocument {
  const read = textReader(fields, source)
  const isTaken = nameMatcher(fields)
  const members = fields.filter(mayHaveMembers).map(({ key }) => `${key}[`)
  const isNamed = (name: string) => isTaken(name) || members.some((prefix) => name.startsWith(prefix))
  const acceptsAnyName = fields.some((field) => field.acceptsAnyName)
  return readForm

  function readForm({ texts, length }: FormTexts, others?: ReadonlySet<string>): JsonDocument {
    const document = read(texts, others)
    document.length = length
    for (const [name, given] of Object.entries(texts)) {
      if (!acceptsAnyName && !isNamed(name)) setUndeclared(document, name, given.map(source.decode), otherTypes)
    }
    return document
  }
}

/** Returns whether clients may write a field with names in brackets, although it has another style. */
const mayHaveMembers = (field: FormField): boolean =>
  field.places !== undefined || (field.kind === 'array' && hasBrackets(field))

/** Sets a property that the schema does not name; validation decides whether it is allowed. */
function setUndeclared(document: JsonDocument, name: string, [first = '', ...more]: string[], types: string[]): void {
  const holder = document.value as object
  if (more.length === 0) setScalar(document, holder, name, first, types)
  else setMember(holder, name, [first, ...more])
}
