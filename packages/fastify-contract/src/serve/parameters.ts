import { ContractError } from '../http/errors.ts'
import { decodeText } from '../http/query-string.ts'
import type { JsonDocument } from '../json/json-document.ts'
import { type Texts, textReader } from './parameter-values.ts'
import type { ParameterText, TextValue } from './routes.ts'

/**
 * Returns a function that reads the parameters of one location, such as the query, into an object by name. It throws a
 * ContractError for a text that does not follow its style or cannot be decoded.
 */
export const parameterReader = (
  parameters: ParameterText[],
  location: ParameterText['in'],
): ((texts: Texts) => JsonDocument) =>
  textReader(
    parameters.filter((parameter) => parameter.in === location),
    { part: location, decode: decoders[location] },
  )

const decoders: Record<ParameterText['in'], (text: string, value: TextValue) => string> = {
  // The router has already decoded parameters that are not split.
  path: (text, value) => ('segment' in value ? decoded(text, decodeURIComponent) : text),
  query: (text) => decoded(text, decodeText),
  // The delimiter of a list in a header may have spaces around it (RFC 9110 section 5.6.1).
  header: (text, { kind }) => (kind === 'array' || kind === 'object' ? text.trim() : text),
  // decodeText would turn a plus into a space, which is right for a query only.
  cookie: (text, { name }) => {
    try {
      return decodeURIComponent(text)
    } catch {
      throw new ContractError('invalid', `cookie/${name} is not percent-encoded UTF-8`)
    }
  },
}

function decoded(text: string, decode: (text: string) => string): string {
  try {
    return decode(text)
  } catch {
    throw new ContractError('undecodableTarget', 'the request target cannot be decoded')
  }
}
