import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isNode, type Node } from '../../src/document/walk-document.ts'

const read = (path: string): Node => JSON.parse(readFileSync(path, 'utf8'))

const validator = fileURLToPath(import.meta.resolve('@seriousme/openapi-schema-validator/package.json'))
const metaschemas = fileURLToPath(new URL('refs/json-schema-2020-12/', import.meta.resolve('ajv/dist/2020.js')))
const vocabularies = ['core', 'applicator', 'unevaluated', 'validation', 'meta-data', 'format-annotation', 'content']

/** Definitions in the schemas of OpenAPI that belong to an object of another name. */
const parts: [RegExp, string][] = [
  [/^.+securityscheme$/, 'securityscheme'],
  [/^(implicit|password|clientcredentials|authorizationcode)(oauth)?flow$/, 'oauthflow'],
]

/** Definitions that are not objects of OpenAPI. */
const helpers = ['examples', 'parameters', 'parameterlocation', 'explodeforform']

/** Fields that the OpenAPI schemas of the package lack: 3.2 defines them in its JSON Schema dialect. */
const ofDialect: Record<string, string[]> = { discriminator: ['defaultMapping'], xml: ['nodeType'] }

/** Returns the fixed fields of the objects of OpenAPI 3.0, 3.1 and 3.2, by the name of the object in lower case. */
export function specificationFields(): Map<string, Set<string>> {
  const fields = new Map<string, Set<string>>()
  const add = (object: string, names: string[]) => {
    const [, whole = object] = parts.find(([pattern]) => pattern.test(object)) ?? []
    if (names.length > 0) fields.set(whole, new Set([...(fields.get(whole) ?? []), ...names]))
  }
  for (const version of ['v3.0', 'v3.1', 'v3.2']) {
    const { definitions, $defs = definitions, ...root } = read(join(validator, '..', 'schemas', version, 'schema.json'))
    add('openapi', namesIn(root, $defs as Node))
    for (const [name, definition] of Object.entries($defs as Node)) {
      const object = name.replaceAll('-', '').toLowerCase()
      const { $defs: inner = {}, ...rest } = definition as Node
      if (object !== 'oauthflows') add(object, namesIn(definition as Node, $defs as Node))
      else {
        add(object, namesIn(rest, $defs as Node))
        for (const flow of Object.values(inner as Node)) add('oauthflow', namesIn(flow, $defs as Node))
      }
    }
  }
  for (const name of ['schema', ...vocabularies.map((each) => join('meta', each))])
    add('schema', Object.keys(read(join(metaschemas, `${name}.json`)).properties as Node))
  for (const [object, names] of Object.entries(ofDialect)) add(object, names)
  for (const helper of helpers) fields.delete(helper)
  return fields
}

/** Returns the names of the properties that a schema describes in any of its branches. */
function namesIn(schema: unknown, definitions: Node): string[] {
  if (Array.isArray(schema)) return schema.flatMap((one) => namesIn(one, definitions))
  if (!isNode(schema)) return []
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword === 'properties') return Object.keys(value as Node)
    if (keyword === '$ref' && value === '#/$defs/examples') return namesIn(definitions.examples, definitions)
    return keyword === 'patternProperties' || keyword === 'additionalProperties' ? [] : namesIn(value, definitions)
  })
}
