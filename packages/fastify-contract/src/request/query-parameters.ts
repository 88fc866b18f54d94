import { ContractError } from '../contract/errors.ts'
import type { Form, Operation, SerializedParameter, SerializedValue } from '../contract/routes.ts'
import type { Schema } from '../contract/schema-keywords.ts'
import { decodeText } from '../http/request-head.ts'
import type { JsonDocument } from '../json/json-document.ts'
import type { Validator } from '../schema/validator.ts'
import { type FormTexts, formReader } from './form-body.ts'
import { decodeTarget, parametersIn, parametersValidator, type ValidateTexts } from './parameters.ts'
import { textReader } from './text-reader.ts'
import { setMember, type Texts } from './text-values.ts'

/** Returns a function that reads and validates the query parameters of an operation. Invalid ones get 400. */
export function queryValidator(operation: Operation, schema: Schema, validator: Validator): ValidateTexts {
  const queryString = parametersIn(operation, 'query').find(({ whole }) => whole !== undefined)
  const read = queryString === undefined ? undefined : queryStringReader(queryString)
  return parametersValidator(operation, schema, validator, { part: 'query', decode: decodeQuery }, read)
}

/** Decodes a text of a query. A plus is a space, unless the value cannot contain one: then it is a plus, as in RFC 3986. */
const decodeQuery = (text: string, { isTime }: Pick<SerializedValue, 'isTime'> = {}): string =>
  decodeTarget(text, isTime ? decodeURIComponent : decodeText)

/** Returns a function that reads a parameter in `querystring`, the whole query (OpenAPI 3.2 section 4.12.1). */
function queryStringReader(parameter: SerializedParameter): (texts: Texts) => JsonDocument {
  const { name, whole } = parameter
  const readOne = textReader([{ ...parameter, key: 'text' }], { part: 'query', decode: (text) => text })
  if (whole === 'json') return readJsonQuery
  const readForm = formReader(whole as Form, { part: `query/${name}`, decode: decodeQuery })
  return readFormQuery

  /** Reads a JSON query: one name without a value, which the query parser has already decoded. */
  function readJsonQuery(texts: Texts): JsonDocument {
    const [text, ...more] = Object.keys(texts)
    if (text === undefined) return readOne({})
    if (more.length > 0 || (texts[text] as string[]).join() !== '')
      throw new ContractError('invalid', `query/${name} must be one percent-encoded string`)
    return readOne({ text })
  }

  function readFormQuery(texts: Texts): JsonDocument {
    if (Object.keys(texts).length === 0) return readOne({})
    const document = readForm({ texts: texts as FormTexts['texts'], length: 0 })
    const holder = {}
    setMember(holder, name, document.value)
    return { ...document, value: holder }
  }
}
