import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Severity } from '../../packages/fastify-contract-cli/src/changes/change-severity.ts'
import { houseDocument } from '../support/house-document.ts'

const text = { type: 'string' }
const content = (schema: object) => ({ 'application/json': { schema } })

/** A path item with features that the plant store lacks. Each of its schemas is either sent or returned. */
const searches = {
  delete: { operationId: 'forget', responses: { 204: { description: 'Forgotten.' } } },
  post: {
    operationId: 'search',
    security: [{ bearer: [] }, { oauth: ['read'] }],
    parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer', default: 10, maximum: 100 } }],
    requestBody: {
      content: content({
        type: 'object',
        required: ['kind'],
        properties: { kind: { enum: ['shrub', 'tree'] }, name: text, words: { type: 'array', contains: text } },
      }),
    },
    responses: {
      200: {
        description: 'What was found.',
        headers: { Total: { required: true, schema: text } },
        content: content({ type: 'object', properties: { light: { enum: ['sun', 'shade'] }, next: text } }),
      },
      404: {
        description: 'Nothing was found.',
        content: content({
          oneOf: [{ $ref: '#/components/schemas/Error' }, { $ref: '#/components/schemas/Plant' }],
          discriminator: { propertyName: 'reason' },
        }),
      },
    },
  },
}

const plant = '/components/schemas/Plant'
const flow = '/components/securitySchemes/oauth/flows/clientCredentials'
const search = '/paths/~1searches/post'
const sent = `${search}/requestBody/content/application~1json/schema`
const returned = `${search}/responses/200/content/application~1json/schema`
const missing = `${search}/responses/404/content/application~1json/schema`

const edits: Record<Severity, [pointer: string, value: unknown][]> = {
  breaking: [
    ['/paths/~1gardens', undefined],
    [search, undefined],
    [`${search}/operationId`, 'find'],
    [`${search}/security`, [{ bearer: [] }]],
    [`${search}/parameters`, undefined],
    [`${search}/parameters/0/schema/default`, 20],
    [`${search}/parameters/0/schema/maximum`, 50],
    [`${search}/parameters/1`, { name: 'page', in: 'query', required: true, schema: text }],
    [`${search}/requestBody/required`, true],
    ['/paths/~1searches/delete/requestBody', { required: true, content: content(text) }],
    [sent, undefined],
    [`${sent}/required`, ['kind', 'name']],
    [`${sent}/patternProperties`, { '^x': text }],
    [`${sent}/properties`, undefined],
    [
      `${sent}/properties`,
      { kind: { enum: ['shrub', 'tree'] }, title: text, words: { type: 'array', contains: text } },
    ],
    [`${sent}/properties/kind/enum`, ['tree']],
    [`${sent}/properties/name`, undefined],
    [`${sent}/properties/name/type`, 'integer'],
    [`${sent}/properties/name/minLength`, 1],
    [`${sent}/properties/name/default`, ''],
    [`${sent}/properties/name/readOnly`, true],
    [`${sent}/properties/words/minContains`, 2],
    [`${search}/responses/200/headers`, undefined],
    [`${search}/responses/200/headers/Total/required`, false],
    [returned, undefined],
    [`${returned}/properties/light/enum`, ['sun', 'shade', 'night']],
    [`${returned}/properties/next/type`, ['string', 'null']],
    [`${returned}/properties/next/writeOnly`, true],
    [`${missing}/discriminator`, undefined],
    [`${missing}/discriminator/propertyName`, 'cause'],
    [`${plant}/required`, []],
    [`${plant}/properties/tag`, undefined],
    ['/components/schemas/NewPlant/allOf/1/properties/id/format', 'int32'],
    ['/components/securitySchemes/bearer/scheme', 'basic'],
    [`${flow}/tokenUrl`, 'https://other.test'],
    ['/security', [{ bearer: [], oauth: ['read'] }]],
    ['/servers/0/url', 'http://127.0.0.1:4000'],
  ],
  compatible: [
    ['/paths/~1fields', { get: { operationId: 'fields', responses: { 204: { description: 'None.' } } } }],
    [`${search}/deprecated`, true],
    [`${search}/security/2`, {}],
    [`${search}/parameters/1`, { name: 'page', in: 'query', schema: text }],
    [`${search}/responses/404`, undefined],
    [`${search}/responses/409`, { description: 'It is being searched already.' }],
    [`${sent}/required`, []],
    [`${sent}/properties/if`, text],
    [`${sent}/properties/schema`, text],
    [`${sent}/properties/kind/enum`, ['shrub', 'tree', 'fern']],
    [`${returned}/required`, ['light']],
    [`${returned}/properties/light/enum`, ['sun']],
  ],
  text: [
    ['/info/description', 'A store.'],
    ['/tags/1', { name: 'Searches' }],
    [`${plant}/properties/name/description`, 'Any text.'],
    [`${plant}/properties/name/examples`, ['Ficus lyrata']],
    [`${search}/summary`, 'Search'],
    [`${search}/responses/200/content/application~1json/examples`, { none: { value: {} } }],
  ],
}

/** Returns a released document, the same document after one edit of every kind, and the place of each edit. */
export function contractEdits() {
  const released = parse(readFileSync(houseDocument, 'utf8'))
  released.paths['/gardens'] = { get: { operationId: 'gardens', responses: { 204: { description: 'None.' } } } }
  released.components.securitySchemes.oauth = {
    type: 'oauth2',
    flows: { clientCredentials: { tokenUrl: 'https://tokens.test', scopes: { read: 'Read plants.' } } },
  }
  // Each edit of the path item applies to a copy of its own, so that one comparison covers all edits.
  const rows = Object.entries(edits).flatMap(([weight, rows]) =>
    rows.map(([pointer, value], row) => {
      const own = pointer.replace('~1searches', `~1${weight}~1${row}`)
      if (own !== pointer) released.paths[`/${weight}/${row}`] = searches
      return { weight, value, pointer: own, scope: /^\/paths\/[^/]+/.exec(own)?.[0] ?? own }
    }),
  )
  const edited = JSON.parse(JSON.stringify(released))
  for (const { pointer, value } of rows) put(edited, pointer, value)
  return { released, edited, rows }
}

function put(document: object, pointer: string, value: unknown): void {
  const keys = pointer.split('/').map((key) => key.replaceAll('~1', '/'))
  const last = keys.pop() as string
  // biome-ignore lint/suspicious/noExplicitAny: any node of a document
  const parent = keys.slice(1).reduce((node: any, key) => node[key], document)
  parent[last] = value
}
