import { readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { parseDocument } from 'yaml'

/** A document that is measured: its text, and the same with one property and one operation edited. */
export type RealDocument = { name: string; file: string; text: string; edited: string }

/** A public document: its name in tables, and where its file is. */
export type Source = { name: string; path: string }

/** The document of @octokit/openapi, whose package has no other use here, so only the benchmark installs it. */
export const octokit = { name: '@octokit/openapi', version: '23.0.2' }

const examples = join('node_modules', '@readme', 'oas-examples', '3.0', 'json')

/** Returns a small, a middle and a large document of other people: two are of packages for development. */
export const publicDocuments = (installation: string): Source[] => [
  { name: 'Star Trek, 0.5 MB of JSON', path: join(examples, 'star-trek.json') },
  {
    name: 'Rebilly, 1 MB of YAML',
    path: join('node_modules', '@redocly', 'openapi-core', 'src', 'benchmark', 'benches', 'rebilly.yaml'),
  },
  {
    name: 'GitHub, 7 MB of JSON',
    path: join(installation, 'node_modules', octokit.name, 'generated', 'api.github.com.json'),
  },
]

/** The pets document, which is the smallest that has a command of every kind. */
export const pets: Source = { name: 'Pets', path: join(examples, 'petstore.json') }

/** Reads a document, and edits it in one place of a schema and one of an operation. */
export function readDocument({ name, path }: Source): RealDocument {
  const text = readFileSync(path, 'utf8')
  const isJson = extname(path) === '.json'
  const file = `openapi${extname(path)}`
  if (isJson) {
    const value = JSON.parse(text)
    for (const [place, added] of editsOf(value, path)) set(value, place, added)
    return { name, file, text, edited: JSON.stringify(value, null, text.startsWith('{"') ? 0 : 2) }
  }
  const parsed = parseDocument(text)
  for (const [place, added] of editsOf(parsed.toJS(), path)) parsed.setIn(place, added)
  return { name, file, text, edited: String(parsed) }
}

type Members = Record<string, unknown>
type Edit = [place: (string | number)[], added: unknown]

const methods = ['get', 'put', 'post', 'patch', 'delete']

/** Returns a property for the first schema that has some, and a query parameter for the first operation. */
function editsOf(document: { paths?: object; components?: { schemas?: object } }, path: string): Edit[] {
  const schemas = Object.entries(document.components?.schemas ?? {}) as [string, Members][]
  const [schema] = schemas.find(([, { properties }]) => Object.keys(Object(properties)).length > 0) ?? []
  const operations = Object.entries(document.paths ?? {}).flatMap(([key, item]) =>
    methods.filter((method) => method in item).map((method): [string, string, Members] => [key, method, item[method]]),
  )
  const [key, method, operation] = operations[0] ?? []
  if (schema === undefined || key === undefined || method === undefined)
    throw new Error(`${basename(path)} has no schema with properties, or no operation; measure another document`)
  const name = 'addedByTheBenchmark'
  const parameter = { name, in: 'query', schema: { type: 'string' } }
  return [
    [['components', 'schemas', schema, 'properties', name], { type: 'string' }],
    [
      ['paths', key, method, 'parameters'],
      [...((operation?.parameters as object[]) ?? []), parameter],
    ],
  ]
}

function set(value: Members, place: (string | number)[], added: unknown): void {
  const [first = '', ...rest] = place
  if (rest.length === 0) value[first] = added
  else set(value[first] as Members, rest, added)
}
