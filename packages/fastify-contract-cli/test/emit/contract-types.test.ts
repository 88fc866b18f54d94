import { readFileSync } from 'node:fs'
import { diagnose } from 'fastify-contract-test-support/compiler'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import type { Document } from '../../src/document/openapi-document.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import type { Files } from '../../src/emit/generated-files.ts'
import { ownPath } from '../support/own-path.ts'

const text = { type: 'string' }
const number = { type: 'number' }
const int64 = { type: 'integer', format: 'int64' }
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: object) => ({ content: { 'application/json': { schema } } })

const typesOf = async (paths: object, components: object = {}): Promise<Files> => {
  const document = { openapi: '3.1.0', info: { title: 'Types', version: '1' }, paths, components }
  return (await compileDocument(document as unknown as Document, 'types.yaml')).files
}

const head = `import type { components, operations, paths } from './api.d.ts'
  import type { Handlers } from './handler-types.d.ts'
  export type Used = [components, operations, paths, Handlers]
  export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
`

/** Asserts that each statement compiles with the types of a document, and that no statement in `wrong` does. */
function check(t: Test, files: Files, right: string[], wrong: string[] = []): void {
  const lines = [...right, ...wrong.flatMap((statement) => ['// @ts-expect-error', statement])]
  const types = Object.fromEntries(
    ['api.d.ts', 'handler-types.d.ts'].map((name) => [`src/${name}`, files[name] as string]),
  )
  t.same(diagnose(['src/typed.ts'], { 'src/typed.ts': [head, ...lines].join('\n'), ...types }), [])
}

let names = 0
/** Returns the statement that a value has the type of a shared schema. */
const is = (schema: string, value: string) => `export const v${names++}: components['schemas']['${schema}'] = ${value}`

/** Returns the statement that a type is the same as another one. */
const same = (type: string, other: string) => `export const e${names++}: Equal<${type}, ${other}> = true`

const schemaTypes = (schemas: object) =>
  typesOf({ '/a': { get: { operationId: 'a', responses: { 200: { description: '' } } } } }, { schemas })

t.test('a member is required if any schema of the value requires it', async (t) => {
  const types = await schemaTypes({
    Base: object({ a: number, b: text, nested: object({ x: text, y: text }) }),
    Branch: { allOf: [ref('Base'), { required: ['a'] }, { properties: { nested: { required: ['x'] } } }] },
    Beside: { type: 'object', allOf: [{ allOf: [ref('Alias')] }], required: ['a', 'other'] },
    Reference: { ...ref('Base'), required: ['b'] },
    Alias: ref('Base'),
    Either: object({ a: number, b: text }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
  })
  check(
    t,
    types,
    [
      same("components['schemas']['Branch']['a']", 'number'),
      same("components['schemas']['Branch']['b']", 'string | undefined'),
      same("components['schemas']['Beside']['a']", 'number'),
      same("components['schemas']['Reference']['b']", 'string'),
      is('Branch', "{ a: 1, nested: { x: '' } }"),
      is('Beside', '{ a: 1, other: [] }'),
      is('Either', '{ a: 1 }'),
      is('Either', "{ b: '' }"),
    ],
    [
      is('Branch', '{}'),
      is('Branch', "{ a: 1, nested: { y: '' } }"),
      is('Beside', '{ a: 1 }'),
      is('Beside', '{ a: 1, other: undefined }'),
      is('Reference', '{ a: 1 }'),
      is('Either', '{}'),
      is('Either', '{ a: undefined }'),
    ],
  )
})

t.test('a tuple may be shorter than its prefix, and is open unless items closes it', async (t) => {
  const array = (more: object) => ({ type: 'array', prefixItems: [number, text], ...more })
  const types = await schemaTypes({
    Open: array({}),
    Rest: array({ items: { type: 'boolean' }, minItems: 1 }),
    Closed: array({ items: false, minItems: 2 }),
    Short: array({ maxItems: 1 }),
    Bounded: array({ items: int64, maxItems: 3 }),
    Long: array({ minItems: 3 }),
    None: array({ items: false, minItems: 3 }),
    Nullable: { ...array({ items: false }), type: ['array', 'null'] },
    Nested: { type: 'array', items: { allOf: [{ type: 'array', items: text }] } },
    Empty: { type: 'array', items: false },
  })
  check(t, types, [
    same("components['schemas']['Open']", '[number?, string?, ...unknown[]]'),
    same("components['schemas']['Rest']", '[number, string?, ...boolean[]]'),
    same("components['schemas']['Closed']", '[number, string]'),
    same("components['schemas']['Short']", '[number?]'),
    same("components['schemas']['Bounded']", '[number?, string?, bigint?]'),
    same("components['schemas']['Long']", '[number, string, unknown, ...unknown[]]'),
    same("components['schemas']['None']", 'never'),
    same("components['schemas']['Nullable']", '[number?, string?] | null'),
    same("components['schemas']['Nested']", 'string[][]'),
    same("components['schemas']['Empty']", 'never[]'),
  ])
})

t.test('named properties keep their types beside other properties of another type', async (t) => {
  const types = await schemaTypes({
    Map: object({ a: object({ n: number }), b: text }, { additionalProperties: { type: 'array', items: text } }),
    Patterns: object({ id: int64 }, { patternProperties: { '^s_': text }, additionalProperties: false }),
    Unevaluated: object({ id: int64 }, { unevaluatedProperties: text }),
    Only: { type: 'object', additionalProperties: int64 },
    Required: { type: 'object', required: ['a'], additionalProperties: int64 },
    Empty: object({}),
    Closed: object({}, { additionalProperties: false }),
  })
  check(
    t,
    types,
    [
      is('Map', "{ a: { n: 1 }, b: '', c: ['x'] }"),
      same("components['schemas']['Map']['b']", 'string | undefined'),
      is('Patterns', "{ id: 1n, s_a: 'x' }"),
      same("components['schemas']['Patterns']['id']", 'bigint | undefined'),
      is('Unevaluated', "{ id: 1n, a: 'x' }"),
      is('Only', '{ a: 1n }'),
      same("components['schemas']['Required']['a']", 'bigint'),
      is('Empty', '{ a: 1 }'),
      is('Closed', '{}'),
    ],
    [is('Map', '{ c: 5 }'), is('Only', "{ a: 'x' }"), is('Required', '{ b: 1n }'), is('Closed', '{ a: 1 }')],
  )
})

t.test('keywords that apply together are combined', async (t) => {
  const closed = { additionalProperties: false }
  const types = await schemaTypes({
    Text: { type: 'string', oneOf: [{ const: 'a' }, { const: 'b' }] },
    Nulls: { type: ['string', 'null'], enum: ['a', 'b'] },
    Null: { const: null },
    Mixed: { type: ['string', 'integer', 'null'], enum: ['a', 1, null, true] },
    Wrong: { type: 'string', const: 5 },
    Objects: { type: 'object', enum: [{ a: 1 }, 5] },
    Never: { not: {} },
    NotNull: { type: 'object', allOf: [ref('Maybe')] },
    Maybe: { type: ['object', 'null'], properties: { a: text } },
    Long: { type: ['integer', 'string'], format: 'int64', enum: [1, 'a'] },
    Union: { anyOf: [object({ a: text }, closed), ref('Other')] },
    Other: object({ b: text }, closed),
  })
  check(
    t,
    types,
    [
      same("components['schemas']['Text']", "'a' | 'b'"),
      same("components['schemas']['Nulls']", "'a' | 'b'"),
      same("components['schemas']['Null']", 'null'),
      same("components['schemas']['Mixed']", "'a' | 1 | null"),
      same("components['schemas']['Wrong']", 'never'),
      same("components['schemas']['Objects']", '{ a: 1 }'),
      same("components['schemas']['Never']", 'never'),
      same("components['schemas']['Long']", "bigint | 'a'"),
      is('NotNull', "{ a: '' }"),
      is('Union', "{ a: '' }"),
      is('Union', "{ b: '' }"),
    ],
    [is('NotNull', 'null'), is('Union', "{ a: '', b: '' }")],
  )
})

t.test('a media type, a parameter and a header whose schema is false have no value', async (t) => {
  const headers = { 'X-A': { schema: false } }
  const parameters = [{ name: 'q', in: 'query', schema: false }]
  const responses = { 200: { description: '', headers, content: { 'application/json': { schema: false } } } }
  const types = await typesOf({ '/a': { get: { operationId: 'a', parameters, responses } } })
  const response = "operations['a']['responses'][200]"
  check(t, types, [
    same(`${response}['content']['application/json']`, 'never'),
    same(`${response}['headers']['X-A']`, 'undefined'),
    same("NonNullable<operations['a']['parameters']['query']>['q']", 'undefined'),
  ])
})

t.test('each operationId is the name of its types and of its handler', async (t) => {
  const ids = [
    'put_a#add',
    'put_a/add',
    "it's a%20b",
    'a.b c/ü',
    'constructor',
    '__proto__',
    '1st',
    'quote"\\',
    'operation-1',
    '',
  ].filter((id) => id !== '')
  const types = await typesOf(
    Object.fromEntries(
      ids.map((operationId, index) => [
        `/${index}`,
        { get: { operationId, responses: { 200: { description: '', ...json({ const: index }) } } } },
      ]),
    ),
  )
  const bodies = ids.map((id) => `operations[${JSON.stringify(id)}]['responses'][200]['content']['application/json']`)
  check(t, types, [
    ...bodies.map((body, index) => same(body, String(index))),
    ...ids.map(
      (id, index) =>
        `export const h${index} = async (): ReturnType<Handlers[${JSON.stringify(id)}]> => ({ status: 200, body: ${index} })`,
    ),
    ...ids.map((id, index) => same(`paths['/${index}']['get']`, `operations[${JSON.stringify(id)}]`)),
  ])
})

t.test('no type of an operation has the name of a type of the engine', async (t) => {
  const requestBody = { required: true, content: { ...json(int64).content, 'text/plain': { schema: text } } }
  const responses = { 204: { description: '' } }
  const types = await typesOf({ '/': { post: { operationId: 'noDeclared', requestBody, responses } } })
  const names = Array.from((types['handler-types.d.ts'] as string).matchAll(/export \w+ (\w+)/g), ([, name]) => name)
  t.notOk(names.includes('NoDeclaredParameters'))
  check(t, types, [same("keyof Parameters<Handlers['noDeclared']>[0]['query']", 'never')])
})

t.test('components that are references to others have the types of their targets', async (t) => {
  const directory = ownPath('test/documents/aliases')
  const document = parse(readFileSync(`${directory}/openapi.yaml`, 'utf8'))
  const { files: types } = await compileDocument(document, 'openapi.yaml')
  const texts = Object.fromEntries(
    ['api.d.ts', 'handler-types.d.ts'].map((name) => [`${directory}/${name}`, types[name] as string]),
  )
  t.same(diagnose([`${directory}/handlers.ts`], texts), [])
  const response = "operations['put_list#all']['responses']"
  check(t, types, [
    same("operations['put_list#all']['parameters']['path']['id']", 'bigint'),
    same("NonNullable<operations['put_list#all']['parameters']['query']>['page']", 'bigint | undefined'),
    same("components['requestBodies']['First']['content']['application/json']['ids']", 'bigint[]'),
    ...['200', '201'].flatMap((status) => [
      same(`${response}[${status}]['content']['application/json']['ids']`, 'bigint[]'),
      same(`${response}[${status}]['headers']['X-Total']`, 'bigint'),
    ]),
  ])
})

t.test('values that would become a 500 do not compile', async (t) => {
  const closed = { additionalProperties: false }
  const schemas = {
    Closed: object({ name: text, inner: object({ x: number }, closed) }, closed),
    All: { allOf: [object({ a: object({ x: number }) }), object({ b: number })], unevaluatedProperties: false },
  }
  const header = { headers: { 'X-A': { schema: text } } }
  const responses = {
    200: { description: '', ...header, ...json(ref('Closed')) },
    201: { description: '', ...json({ oneOf: [ref('Closed'), object({ id: text }, closed)] }) },
    202: { description: '', ...json(ref('All')) },
  }
  const types = await typesOf({ '/a': { get: { operationId: 'a', responses } } }, { schemas })
  const returns = (value: string) => `export const r${names++} = async (): ReturnType<Handlers['a']> => (${value})`
  check(
    t,
    types,
    [
      returns("{ status: 200, headers: { 'X-A': '' }, body: { name: '', inner: { x: 1 } } }"),
      returns("{ status: 201, body: { name: '' } }"),
      returns("{ status: 201, body: { id: '' } }"),
      returns('{ status: 202, body: { a: { x: 1 }, b: 1 } }'),
      same("keyof operations['a']['responses'][200]['headers']", "'X-A'"),
      same("operations['a']['responses'][201]['headers']", 'Record<string, never>'),
    ],
    [
      returns("{ status: 200, headers: { 'X-A': '', 'X-B': '' }, body: {} }"),
      returns("{ status: 201, headers: { 'X-B': '' }, body: {} }"),
      returns("{ status: 200, body: { name: '', other: 1 } }"),
      returns('{ status: 200, body: { inner: { x: 1, y: 1 } } }'),
      returns("{ status: 201, body: { name: '', id: '' } }"),
      returns('{ status: 202, body: { a: { x: 1, y: 1 } } }'),
      returns('{ status: 202, body: { c: 1 } }'),
      // This holds without a return type, too.
      "export const mixed = { name: '', id: '' }; export const variable: Pick<Handlers, 'a'> = { a: async () => ({ status: 201, body: mixed }) }",
    ],
  )
})

t.test('a percent sign in a name stays as it is', async (t) => {
  const nested = object({ 'x%y': object({ 'p%20q': object({ me: ref('Box/properties/x%25y'), n: int64 }) }) })
  const responses = { 204: { description: 'Done.' } }
  const percent = {
    get: { operationId: 'percent-%', parameters: [{ name: 'n%', in: 'query', schema: text }], responses },
  }
  const types = await typesOf({ '/a': percent }, { schemas: { Box: nested } })
  check(t, types, [
    is('Box', "{ 'x%y': { 'p%20q': { n: 1n, me: { 'p%20q': {} } } } }"),
    same("operations['percent-%']['parameters']['query']", "{ 'n%'?: string } | undefined"),
  ])
})

t.test('the client sends the QUERY operation of a path, but no method of additionalOperations', async (t) => {
  const responses = { 200: { description: '', ...json(number) } }
  const parameters = [{ name: 'id', in: 'path', required: true, schema: int64 }]
  const requestBody = { required: true, ...json(object({ size: number }, { required: ['size'] })) }
  const document = {
    openapi: '3.2.0',
    info: { title: 'Types', version: '1' },
    paths: {
      '/a/{id}': { parameters, query: { operationId: 'a', requestBody, responses } },
      '/b': {
        get: { operationId: 'b', responses },
        query: { operationId: 'a query', requestBody, responses },
        additionalOperations: { COPY: { operationId: 'c', responses } },
      },
      '/c': { additionalOperations: { COPY: { operationId: 'd', responses } } },
    },
  }
  const { files } = await compileDocument(document as unknown as Document, 'types.yaml')
  const call = (text: string) => `export const c${names++} = client.${text}`
  check(
    t,
    files,
    [
      "import { exactClient } from 'fastify-contract/client'",
      "const client = exactClient<paths>({}, { baseUrl: 'http://a' })",
      call("QUERY('/a/{id}', { params: { path: { id: 1n } }, body: { size: 1 } })"),
      "export const sum = async () => ((await client.QUERY('/b', { body: { size: 1 } })).data ?? 0) + 1",
      call("GET('/b')"),
    ],
    [
      call("QUERY('/a/{id}', { params: { path: { id: 1n } } })"),
      call("QUERY('/a/{id}', { body: { size: 1 } })"),
      call("QUERY('/b', { body: { size: '1' } })"),
      call("QUERY('/c')"),
      "export type Unknown = paths['QUERY /b']",
      "export type Added = paths['/b']['copy']",
    ],
  )
})

t.test('the sender sends the QUERY operation of a webhook and of a callback', async (t) => {
  const responses = { 204: { description: '' } }
  const requestBody = { required: true, ...json(object({ size: int64 }, { required: ['size'] })) }
  const parameters = [{ name: 'X-A', in: 'header', required: true, schema: text }]
  const query = { operationId: 'asked', requestBody, responses }
  const additionalOperations = { NOTIFY: { operationId: 'told', responses } }
  const document = {
    openapi: '3.2.0',
    info: { title: 'Types', version: '1' },
    paths: { '/a': { post: { operationId: 'a', responses, callbacks: { done: { '{$url}': { query } } } } } },
    webhooks: {
      asked: { parameters, query, additionalOperations },
      'QUERY webhook asked': { post: { responses } },
      told: { additionalOperations },
    },
  }
  const { files } = await compileDocument(document as unknown as Document, 'types.yaml')
  const call = (text: string) => `export const c${names++} = sender.${text}`
  const header = "url: '', params: { header: { 'X-A': 'a' } }"
  check(
    t,
    files,
    [
      "import { webhookSender } from 'fastify-contract/webhooks'",
      "import type { webhooks } from './api.d.ts'",
      `const sender = webhookSender<webhooks>(${files['webhooks.json']})`,
      call(`QUERY('asked', { ${header}, body: { size: 1n } })`),
      call("QUERY('a done', { url: '', body: { size: 1n } })"),
      call("POST('QUERY webhook asked', { url: '' })"),
      same('keyof operations', "'a'"),
      same('keyof paths', "'/a'"),
    ],
    [
      call("QUERY('asked', { url: '', body: { size: 1n } })"),
      call(`QUERY('asked', { ${header}, body: { size: 1 } })`),
      call(`POST('asked', { ${header} })`),
      call("QUERY('told', { url: '' })"),
      call("QUERY('QUERY webhook asked', { url: '' })"),
    ],
  )
})

t.test('the client and the sender take the tables of a document as TypeScript infers imports of JSON', async (t) => {
  const responses = (schema: object) => ({ 200: { description: '', ...json(schema) } })
  const list = (style: string) => ({ in: 'query', name: style, style, explode: false, schema: { type: 'array' } })
  const document = {
    openapi: '3.1.0',
    info: { title: 'Types', version: '1' },
    paths: {
      '/a': {
        get: { operationId: 'a', parameters: [list('pipeDelimited')], responses: responses(object({ a: int64 })) },
      },
      '/b': {
        get: {
          operationId: 'b',
          parameters: [list('spaceDelimited')],
          responses: responses({ type: 'array', items: object({ b: object({ c: int64 }) }) }),
        },
      },
    },
    webhooks: {
      c: { post: { parameters: [list('pipeDelimited')], responses: responses(object({ a: int64 })) } },
      d: { post: { requestBody: json(text), responses: { 204: { description: '' } } } },
    },
  }
  const { files } = await compileDocument(document as unknown as Document, 'types.yaml')
  const module = `import { exactClient } from 'fastify-contract/client'
    import { webhookSender } from 'fastify-contract/webhooks'
    import type { paths, webhooks } from './api.d.ts'
    const clientTable = ${files['client.json']}
    const table = ${files['webhooks.json']}
    export const client = exactClient<paths>(clientTable, { baseUrl: '' })
    export const sender = webhookSender<webhooks>(table)`
  const texts = { 'src/typed.ts': module, 'src/api.d.ts': files['api.d.ts'] as string }
  for (const exactOptionalPropertyTypes of [true, false])
    t.same(diagnose(['src/typed.ts'], texts, { exactOptionalPropertyTypes }), [])
})

t.test('the types of a client say which responses are streams of items', async (t) => {
  const pet = { type: 'object', required: ['id'], properties: { id: { type: 'integer', format: 'int64' } } }
  const responses = (type: string, more: object) => ({ 200: { description: '', content: { [type]: more } } })
  const document = {
    openapi: '3.2.0',
    info: { title: 'Streams', version: '1.0.0' },
    paths: {
      '/lines': {
        get: { operationId: 'lines', responses: responses('application/jsonl', { itemSchema: pet }) },
        post: {
          operationId: 'array',
          responses: responses('application/x-ndjson', { schema: { type: 'array', items: pet } }),
        },
      },
      '/events': {
        get: {
          operationId: 'events',
          responses: responses('text/event-stream', { itemSchema: { properties: { data: pet } } }),
        },
      },
    },
  }
  const { files } = await compileDocument(document as unknown as Document, 'types.yaml')
  t.strictSame(JSON.parse(files['client.json'] as string).items, {
    'GET /lines': { 200: { 'application/jsonl': { node: 0 } } },
    'POST /lines': { 200: { 'application/x-ndjson': { node: 0 } } },
    'GET /events': { 200: { 'text/event-stream': { node: 0, types: ['object'] } } },
  })
  const module = `import { exactClient } from 'fastify-contract/client'
    import type { paths } from './api.d.ts'
    const client = exactClient<paths>(${files['client.json']}, { baseUrl: '' })
    export async function read(): Promise<void> {
      const { data: lines } = await client.GET('/lines')
      for await (const { id } of lines) exact(id)
      const { data: array } = await client.POST('/lines', { maxItemLength: 9 })
      for await (const { id } of array) exact(id)
      const { data: events } = await client.GET('/events')
      for await (const { data, event, id, retry } of events) {
        exact(data.id)
        const fields: [string | undefined, string | undefined, number | undefined] = [event, id, retry]
        console.log(fields)
      }
      const { data: text } = await client.GET('/lines', { parseAs: 'text' })
      console.log(text.length)
      // @ts-expect-error the items have no such member
      for await (const { name } of lines) console.log(name)
    }
    const exact = (id: bigint) => console.log(id)`
  const texts = { 'src/typed.ts': module, 'src/api.d.ts': files['api.d.ts'] as string }
  t.same(diagnose(['src/typed.ts'], texts), [])
})
