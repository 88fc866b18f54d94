import { type Mark, marksOf, type Verdicts } from './verdicts.ts'

/** What the table has a row for, with the cases that show it, as `OPERATION/CASE`. */
export const features: [string, RegExp][] = [
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
  ['JSON: each type of property', /^(?:body|response)Json\/no null/],
  ['JSON: `null` and absent properties', /^(?:body|response)Json\/(?:only|everything)/],
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
 * The clients with the codes that the table has for them: first those that are generated from the document, then those by
 * hand, each from JavaScript to Rust.
 */
export const codes: Record<string, string> = {
  'typed-client': 'typ',
  'openapi-fetch': 'oaf',
  'hey-api': 'hey',
  orval: 'orv',
  'swagger-client': 'swc',
  'openapi-generator-typescript-fetch': 'otf',
  'openapi-generator-typescript-axios': 'ota',
  'openapi-generator-go': 'ogo',
  'oapi-codegen': 'oac',
  ogen: 'ogn',
  'openapi-generator-java': 'ojo',
  'openapi-generator-java-native': 'ojn',
  'openapi-generator-python': 'opy',
  'openapi-python-client': 'opc',
  'openapi-generator-rust': 'ors',
  progenitor: 'pro',
  undici: 'und',
  got: 'got',
  axios: 'axi',
  'go-net-http': 'net',
  'java-httpclient': 'jdk',
  'python-requests': 'req',
  'python-httpx': 'htx',
  'python-aiohttp': 'aio',
  'rust-reqwest': 'rqw',
}

export type Cell = '✓' | '~' | '!' | '✗' | '–'

/** Returns the cells of a feature by the names of the clients. */
export function cellsOf(verdicts: Verdicts, feature: string): Record<string, Cell> {
  const [, pattern] = features.find(([name]) => name === feature) ?? []
  if (pattern === undefined) throw new Error(`there is no feature "${feature}"`)
  const keys = Object.keys(verdicts.cases).filter((key) => pattern.test(key))
  const names = Object.keys(verdicts.clients)
  const cellAt = (name: string) => cellOf(keys.map((key) => [key, marksOf(verdicts, key)[names.indexOf(name)] as Mark]))
  return Object.fromEntries(names.map((name) => [name, cellAt(name)]))
}

function cellOf(cases: [string, Mark][]): Cell {
  const isRight = (of: [string, Mark][]) => of.every(([, mark]) => mark === '+')
  if (isRight(cases)) return '✓'
  if (cases.every(([, mark]) => mark === '-')) return '–'
  const simple = cases.filter(([key]) => !/\/(?:odd|delimiter|beyond|largest|smallest|empty|name)/.test(key))
  if (simple.length > 0 && simple.length < cases.length && isRight(simple)) return '~'
  return cases.some(([, mark]) => mark === '!') ? '!' : '✗'
}

/** Returns how many clients have this cell for a feature. */
export const countOf = (cells: Record<string, Cell>, cell: Cell): number =>
  Object.values(cells).filter((each) => each === cell).length

/** Returns the table of features and clients, first the features that most clients send right. */
export function featureTable(verdicts: Verdicts): string {
  const names = Object.keys(codes).filter((name) => name in verdicts.clients)
  const rows = features
    .map(([feature]) => ({ feature, cells: cellsOf(verdicts, feature) }))
    .map((row) => ({ ...row, right: countOf(row.cells, '✓') }))
    .sort((one, other) => other.right - one.right)
    .map(({ feature, cells, right }) => [feature, String(right), ...names.map((name) => cells[name] ?? '–')])
  return tableOf(['feature', `of ${names.length}`, ...names.map((name) => codes[name] ?? name)], rows)
}

/** Returns the table of clients, with their versions and how many calls have each verdict. */
export function versionTable(verdicts: Verdicts): string {
  const names = Object.keys(verdicts.clients)
  const rows = Object.keys(codes)
    .filter((name) => name in verdicts.clients)
    .map((name) => {
      const own = Object.keys(verdicts.cases).map((key) => marksOf(verdicts, key)[names.indexOf(name)] as Mark)
      const counts = ['+', '!', '4', '*0', '-'].map((group) => own.filter((mark) => group.includes(mark)).length)
      const versions = Object.entries(verdicts.clients[name] ?? {}).map((parts) =>
        parts.join(' ').replace('Maven ', ''),
      )
      return [`\`${codes[name]}\``, name, versions.join(', '), ...counts.map(String)]
    })
  return tableOf(['code', 'client', 'versions', 'right', 'wrong', 'rejected', 'error', 'no code'], rows)
}

/** Returns a table of Markdown. */
export const tableOf = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
