import type { Result } from './judge.ts'

/** The results of each client, by `OPERATION/CASE`. */
export type Results = Record<string, { versions: Record<string, string>; cases: Record<string, Result> }>

/** What the table has a row for, with the cases that show it, as `OPERATION/CASE`. */
const features: [string, RegExp][] = [
  ['path, `simple`: text', /^pathSimplePrimitive\//],
  ['path, `simple`: list', /^pathSimpleArray\//],
  ['path, `simple`: object', /^pathSimpleObject\//],
  ['path, `simple`, exploded: object', /^pathSimpleExplodedObject\//],
  ['path, `label`: text', /^pathLabelPrimitive\//],
  ['path, `label`: list', /^pathLabel(?:Exploded)?Array\//],
  ['path, `label`: object', /^pathLabel(?:Exploded)?Object\//],
  ['path, `matrix`: text', /^pathMatrixPrimitive\//],
  ['path, `matrix`: list', /^pathMatrix(?:Exploded)?Array\//],
  ['path, `matrix`: object', /^pathMatrix(?:Exploded)?Object\//],
  ['query: text', /^queryPrimitive\//],
  ['query: text with `allowReserved`', /^queryAllowReserved\//],
  ['query: numbers, booleans, enumerations', /^query(?:Number|Boolean|Enum|IntegerArray)\//],
  ['query: dates', /^queryDate(?:Time)?\//],
  ['query: optional', /^queryOptional\//],
  ['query: names with odd characters', /^queryOddNames\//],
  ['query: names that are not ASCII', /^queryUnicodeName\//],
  ['query, `form`, exploded: list', /^queryFormExplodedArray\//],
  ['query, `form`, exploded: object', /^queryFormExplodedObject\//],
  ['query, `form`: list', /^queryFormArray\//],
  ['query, `form`: object', /^queryFormObject\//],
  ['query, `spaceDelimited`: list', /^querySpaceDelimitedArray\//],
  ['query, `spaceDelimited`: object', /^querySpaceDelimitedObject\//],
  ['query, `pipeDelimited`: list', /^queryPipeDelimitedArray\//],
  ['query, `pipeDelimited`: object', /^queryPipeDelimitedObject\//],
  ['query, `deepObject`', /^queryDeepObject\//],
  ['query, `deepObject` with a list', /^queryDeepObjectArray\//],
  ['query, `deepObject` with an object', /^queryDeepObjectNested\//],
  ['query: JSON by `content`', /^queryContentJson\//],
  ['header: text', /^headerPrimitive\//],
  ['header: list', /^headerArray\//],
  ['header: object', /^header(?:Exploded)?Object\//],
  ['header: JSON by `content`', /^headerContentJson\//],
  ['cookie: text', /^cookiePrimitive\//],
  ['cookie: list', /^cookie(?:Exploded)?Array\//],
  ['cookie: object', /^cookie(?:Exploded)?Object\//],
  ['int64 in parameters', /^(?:query|header)Int64\//],
  ['int64 in a body, sent', /^bodyJson\/largest/],
  ['int64 in a body, received', /^responseJson\/largest/],
  ['JSON: each type of property', /^(?:body|response)Json\/(?!largest)/],
  ['JSON: lists and maps', /^(?:bodyJson(?:Array|Map|Charset)|responseJsonCharset)\//],
  ['JSON: text', /^bodyJsonString\//],
  ['JSON: union with discriminator', /^(?:bodyJson|response)Discriminator\//],
  ['JSON: optional body', /^bodyJsonOptional\//],
  ['JSON: names with odd characters', /^(?:body|response)(?:Json)?OddNames\//],
  ['JSON: names that are not ASCII', /^bodyJsonUnicodeNames\//],
  ['JSON: union without discriminator', /^(?:bodyJson|response)Union\//],
  ['JSON: `readOnly`, `writeOnly`', /^bodyJsonReadOnly\//],
  ['JSON merge patch', /^bodyMergePatch\//],
  ['text', /^(?:body|response)Text(?:Charset)?\//],
  ['URL-encoded form', /^bodyForm\/(?!list)/],
  ['URL-encoded form: list', /^bodyForm\/list/],
  ['optional URL-encoded form', /^bodyFormOptional\//],
  ['multipart: one file', /^bodyMultipartFile\/plain/],
  ['multipart: file name with a quote', /^bodyMultipartFile\/odd/],
  ['multipart: several files', /^bodyMultipartFiles\//],
  ['multipart: file and JSON', /^bodyMultipartJson\//],
  ['bytes', /^(?:body|response)OctetStream\//],
  ['JSON Lines, sent', /^bodyJsonLines\//],
  ['JSON Lines, received', /^responseJsonLines\//],
  ['event stream', /^responseEventStream\//],
  ['several media types', /^(?:body|response)SeveralTypes\//],
  ['no body', /^bodyNone/],
  ['response headers', /^responseHead(?:ers)?\//],
  ['204, 205, 304, redirects, 2XX', /^response(?:NoContent|ResetContent|NotModified|Redirect|Accepted)\//],
  ['errors', /^error/],
  ['bearer tokens', /^security(?:Bearer|Optional)\//],
  ['basic credentials', /^securityBasic\//],
  ['key in a header', /^securityKeyHeader\//],
  ['key in the query', /^securityKeyQuery\//],
  ['key in a cookie', /^securityKeyCookie\//],
  ['several schemes', /^security(?:And|Or)\//],
]

/** Returns the cases that are not in exactly one row; a test requires none. */
export const unlistedCases = (keys: string[]): string[] =>
  keys.filter((key) => features.filter(([, pattern]) => pattern.test(key)).length !== 1)

/**
 * Returns a table of Markdown: a row for each feature, a column for each client. A cell is `yes`; `plain`, if only
 * the cases without delimiters and odd characters are right; `no`; or `–`, if the client has no code for it.
 */
export function clientTable(results: Results): string {
  const names = Object.keys(results)
  const rows = features.map(([feature, pattern]) => {
    const cells = names.map((name) => cellOf(Object.entries(results[name]?.cases ?? {}), pattern))
    return `| ${[feature, ...cells].join(' | ')} |\n`
  })
  return `| | ${names.join(' | ')} |\n|${'---|'.repeat(names.length + 1)}\n${rows.join('')}`
}

function cellOf(cases: [string, Result][], pattern: RegExp): string {
  const shown = cases.filter(([key]) => pattern.test(key))
  const isRight = (of: [string, Result][]) => of.every(([, { verdict }]) => verdict === 'right')
  if (isRight(shown)) return 'yes'
  if (shown.every(([, { verdict }]) => verdict === 'missing')) return '–'
  const simple = shown.filter(([key]) => !/\/(?:odd|delimiter|beyond|largest|smallest|empty|name)/.test(key))
  return simple.length > 0 && simple.length < shown.length && isRight(simple) ? 'plain' : 'no'
}
