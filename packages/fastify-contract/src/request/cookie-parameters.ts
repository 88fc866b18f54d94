import { ContractError } from '../contract/errors.ts'
import type { Operation, SerializedValue } from '../contract/routes.ts'
import { parseCookies, unquotedCookie } from '../http/request-head.ts'
import { type Validator, valueOrThrow } from '../schema/validator.ts'
import { parametersIn, parametersValidator } from './parameters.ts'
import { setMember, type Texts } from './text-values.ts'

/**
 * Returns a function that reads and validates the cookies of a request, given its Cookie header; undefined if the
 * operation has none. For invalid cookies it throws a ContractError with status 400. Fastify validates no cookies, so
 * they are read when the input of the handler is collected.
 */
export function cookieReader(
  operation: Operation,
  validator: Validator,
): ((header: string | undefined) => unknown) | undefined {
  const { cookies: schema } = operation.schema
  if (schema === undefined) return undefined
  const validate = parametersValidator(operation, schema, validator, { part: 'cookie', decode: decodeCookie })
  const textsOf = cookieTexts(parametersIn(operation, 'cookie'))
  return (header) => valueOrThrow(validate(textsOf(header)))
}

/** Decodes a text of a cookie, in which a plus is no space. Throws a ContractError for a text that cannot be decoded. */
function decodeCookie(text: string, { name }: SerializedValue): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new ContractError('invalid', `cookie/${name} is not percent-encoded UTF-8`)
  }
}

/**
 * Returns a function that returns the texts of cookies without the quotes around them, except around JSON, where they
 * belong to a string. Of several cookies of one name the first counts, as in RFC 6265 section 5.4, unless they are the
 * items of a list.
 */
function cookieTexts(values: SerializedValue[]): (header: string | undefined) => Texts {
  const lists = new Set<string>()
  const json = new Set<string>()
  for (const { key, kind, explode } of values) {
    if (kind === 'array' && explode) lists.add(key)
    if (kind === 'json') json.add(key)
  }
  return textsOf

  function textsOf(header: string | undefined): Texts {
    const texts = {}
    for (const [name, given] of Object.entries(parseCookies(header))) {
      const counted = lists.has(name) ? given : given.slice(0, 1)
      setMember(texts, name, (json.has(name) ? counted : counted.map(unquotedCookie)).map(encodedCookie))
    }
    return texts
  }
}

/**
 * Returns the value of a cookie with encoded percent signs, if none of them begins an encoded byte: a cookie may contain
 * the sign (RFC 6265 section 4.1.1). A value with signs of both kinds has two readings; it is
 * not changed, and decoding rejects it.
 */
const encodedCookie = (text: string): string => (/%[\da-f]{2}/i.test(text) ? text : text.replaceAll('%', '%25'))
