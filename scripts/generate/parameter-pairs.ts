import { stringifyJson } from '../../src/json/stringify-json.ts'
import type { Parameter } from './openapi-document.ts'

export type ParameterPair = [name: string, value: string]

/** What stands between the items of an array in one value, unless it is a comma (OpenAPI 3.1 section 4.8.12.3). */
const delimiters: Record<string, string> = { spaceDelimited: '%20', pipeDelimited: '%7C' }

/**
 * Returns the names and values by which a parameter is sent. An array is repeated in a query and in cookies, unless
 * explode is false, and joined in one value elsewhere. The values are percent-encoded, except in a header.
 */
export function parameterPairs(
  { in: place, name, style = 'form', explode = style === 'form' }: Parameter,
  value: unknown,
): ParameterPair[] {
  const texts = [value].flat().map((one) => (typeof one === 'string' ? one : String(stringifyJson(one))))
  const values = place === 'header' ? texts : texts.map(encodeURIComponent)
  if (explode && (place === 'query' || place === 'cookie')) return values.map((one) => [name, one])
  return [[name, values.join(delimiters[style] ?? ',')]]
}

/** Returns a pair as it is written in a query or among cookies. */
export const pairText = ([name, value]: ParameterPair): string => `${encodeURIComponent(name)}=${value}`

/** Returns a path of a document with the values of its parameters. */
export const filledPath = (path: string, pairs: ParameterPair[]): string =>
  pairs.reduce((filled, [name, value]) => filled.replace(`{${name}}`, () => value), path)
