import { decodeText } from '../http/query-string.ts'
import type { FormTexts } from '../http/text-body.ts'
import type { JsonDocument } from '../json/json-document.ts'
import { textReader } from './parameter-values.ts'
import type { Form, FormField } from './routes.ts'
import { setMember, setScalar } from './scalar-values.ts'

/**
 * Returns a function that converts the texts of a form to typed values. Like `parseJson` it keeps the digits of inexact
 * numbers. It throws a ContractError for a text that does not follow the style of its field.
 */
export function formReader({ fields, otherTypes }: Form): (form: FormTexts) => JsonDocument {
  const read = textReader(fields, { part: 'body', decode: decodeText })
  const isField = fieldFinder(fields)
  return ({ texts, length }) => {
    const document = read(texts)
    document.length = length
    for (const [name, given] of Object.entries(texts)) {
      if (!isField(name)) setUndeclared(document, name, given, otherTypes)
    }
    return document
  }
}

/** Sets a property that the schema does not name; validation decides whether it is allowed. */
function setUndeclared(document: JsonDocument, name: string, given: string[], types: string[]): void {
  const holder = document.value as object
  const [first = '', ...more] = given.map(decodeText)
  if (more.length === 0) setScalar(document, holder, name, first, types)
  else setMember(holder, name, [first, ...more])
}

/** Returns a function that tells whether a name in a form belongs to a field or to a separate property of a field. */
function fieldFinder(fields: FormField[]): (name: string) => boolean {
  const namesOf = ({ kind, style, explode, key, properties = {} }: FormField) => {
    if (kind === 'object' && style === 'deepObject') return []
    return kind === 'object' && style === 'form' && explode ? Object.keys(properties) : [key]
  }
  const names = new Set(fields.flatMap(namesOf))
  const prefixes = fields.filter(({ style }) => style === 'deepObject').map(({ key }) => `${key}[`)
  const isProperty = (name: string) => name.endsWith(']') && prefixes.some((prefix) => name.startsWith(prefix))
  const takesAll = fields.some((field) => field.takesAll)
  return (name) => takesAll || names.has(name) || isProperty(name)
}
