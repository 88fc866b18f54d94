import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { compileDocument } from 'fastify-contract-cli/compile'
import type { Document } from 'fastify-contract-cli/testing'
import { diagnose } from 'fastify-contract-test-support/compiler'
import t from 'tap'
import { ownPath } from '../support/own-path.ts'

const sources = resolve(ownPath('src'))

const text = { type: 'string' } as const
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const tree = {
  type: 'object',
  required: ['id', 'name'],
  properties: { id: { type: 'integer', format: 'int64' }, name: text },
}
const named = { type: 'object', required: ['name'], properties: { name: text } }
const failure = {
  type: 'object',
  required: ['error', 'message'],
  properties: { error: { type: 'integer' }, message: text },
}

/** A document with one operation. These tests do not depend on the service's contract. */
const document = {
  openapi: '3.1.0',
  info: { title: 'Trees', version: '1.0.0' },
  paths: {
    '/trees': {
      post: {
        operationId: 'addTree',
        requestBody: { required: true, ...json(tree) },
        responses: {
          200: { description: 'ok', ...json(named) },
          409: { description: 'taken', ...json(failure) },
          default: { description: 'other', ...json(failure) },
        },
      },
    },
  },
} as Document
const trees = (await compileDocument(document, 'trees.yaml')).files

const plainText = { type: 'string' }
const int64 = { type: 'integer', format: 'int64' }
const form = {
  schema: {
    type: 'object',
    required: ['id'],
    properties: { id: int64, ids: { type: 'array', items: int64 }, file: { type: 'string', format: 'binary' } },
  },
}
const openForm = {
  schema: { type: 'object', properties: { file: { type: 'string', format: 'binary' } }, additionalProperties: int64 },
}
const openFiles = {
  schema: {
    type: 'object',
    properties: { name: plainText },
    additionalProperties: { type: 'array', items: { type: 'string', format: 'binary' } },
  },
}
/** A form of which the service reads one part as described, and the others as files. */
const unclearForm = {
  schema: {
    type: 'object',
    properties: { name: plainText, meta: { type: ['string', 'object'] } },
    patternProperties: { '^more': plainText },
  },
}
const parts = { description: 'Parts.', content: { 'multipart/mixed': {}, 'multipart/related; boundary=a': {} } }
const done = { responses: { 204: { description: 'Done.' } } }
const constant = (value: number) => ({ description: 'A number.', ...json({ const: value }) })
const operation = (operationId: string, required: boolean, content: object) => ({
  post: { operationId, requestBody: { required, content }, ...done },
})

/** A document with several kinds of bodies. These tests do not depend on the service's contract. */
const bodies = {
  openapi: '3.1.0',
  info: { title: 'Bodies', version: '1.0.0' },
  paths: {
    '/form': operation('form', true, { 'multipart/form-data': form }),
    '/openForm': operation('openForm', true, { 'multipart/form-data': openForm }),
    '/openFiles': operation('openFiles', true, { 'multipart/form-data': openFiles }),
    '/unclearForm': operation('unclearForm', true, { 'multipart/form-data': unclearForm }),
    '/related': operation('related', true, { 'multipart/related': form, 'text/csv;charset=latin1': {} }),
    '/parts': { get: { operationId: 'parts', responses: { 200: parts } } },
    '/bytes': operation('bytes', false, { 'application/pdf': {} }),
    '/text': operation('text', true, { 'text/plain': { schema: { enum: ['a', 'b'] } }, 'image/png': {} }),
    '/range': operation('range', false, { 'image/*': {} }),
    '/json': operation('json', true, {
      'application/a+json;v=1': { schema: int64 },
      'Application/JSON': { schema: plainText },
    }),
    '/none': { post: { operationId: 'none', ...done } },
    '/ranges': {
      get: {
        operationId: 'ranges',
        responses: { 200: constant(1), 404: constant(2), '4XX': constant(3), ...done.responses, default: constant(4) },
      },
    },
    '/rest': { get: { operationId: 'rest', responses: { default: constant(5) } } },
    '/headers': {
      get: {
        operationId: 'headers',
        responses: {
          200: {
            description: 'A.',
            headers: {
              'X-A': { required: true, schema: int64 },
              'X-B': { schema: plainText },
              'x-request-id': { required: true, schema: plainText },
            },
          },
          201: { description: 'B.', headers: { ETag: { schema: plainText } } },
          ...done.responses,
        },
      },
    },
  },
} as unknown as Document
const bodyFiles = (await compileDocument(bodies, 'bodies.yaml')).files

/** Returns the generated types of a document as files of a directory. */
const typesIn = (directory: string, files: Record<string, string>): Record<string, string> =>
  Object.fromEntries(['api.d.ts', 'handler-types.d.ts'].map((name) => [`${directory}/${name}`, files[name] as string]))

/** Compiles texts as modules of src, all in one program, and returns the compiler's diagnostics of each, one line each. */
function diagnoseProbes(texts: string[]): string[][] {
  const paths = texts.map((_, index) => `src/probe-${index}.ts`)
  const modules = Object.fromEntries(texts.map((text, index) => [`src/probe-${index}.ts`, text]))
  const lines = diagnose(paths, { ...modules, ...typesIn('src/trees', trees), ...typesIn('src/bodies', bodyFiles) })
  return paths.map((path) =>
    lines.filter((line) => line.startsWith(`${path}:`)).map((line) => line.replace(/^\S+ /, '')),
  )
}

const probe = (handlers: string) =>
  `import type { Handlers } from './trees/handler-types.d.ts'
    export const handlers: Handlers = ${handlers}\n`

t.test("handlers of the document's types compile", async (t) => {
  const handlers = probe(`{
    async addTree({ body }) {
      const id: bigint = body.id
      if (id === 1n) return { status: 409, body: { error: 40900, message: '' } }
      return { status: 200, body: { name: body.name } }
    },
  }`)
  t.same(diagnoseProbes([handlers]), [[]])
})

t.test('handlers typed by another copy of this package fit', (t) => {
  const copied = {
    [resolve(sources, 'routes/copy.ts')]: readFileSync(resolve(sources, 'routes/handler-types.ts'), 'utf8'),
    ...typesIn('src/trees', trees),
    'src/trees/copies.d.ts': String(trees['handler-types.d.ts']).replace("'fastify-contract/handlers'", "'./copy.ts'"),
    'src/trees/copy.ts': `export type * from '${sources}/routes/copy.ts'
      export type { Client } from '${sources}/http/request-context.ts'`,
    'src/copies.ts': `import type { Handlers as Copy } from './trees/copies.d.ts'
      import type { Handlers } from './trees/handler-types.d.ts'
      export const own = (handlers: Copy): Handlers => handlers\n`,
  }
  t.same(diagnose(['src/copies.ts'], copied), [])
  t.end()
})

/** Wrong handlers, each with a pattern that the compiler's diagnostic must match. */
const mistakes: Record<string, [handlers: string, reason: RegExp]> = {
  'a missing handler': ['{}', /^TS2741 Property 'addTree' is missing in type '{}'/],
  'a surplus handler': [
    `{ addTree: async () => ({ status: 200, body: { name: '' } }), removeTree: async () => {} }`,
    /^TS2353 .* 'removeTree' does not exist in type 'Handlers'/,
  ],
  'a status that is not listed': [
    `{ addTree: async () => ({ status: 201, body: { name: '' } }) }`,
    /^TS2322 .*Types of property 'status' are incompatible\. +Type '201' is not assignable to type '409'/,
  ],
  'the body of another status': [
    `{ addTree: async () => ({ status: 409, body: { name: '' } }) }`,
    /^TS2322 .*Types of property 'body' are incompatible\. .*missing the following properties .*: error, message/,
  ],
  'an id that is taken for a number': [
    `{ addTree: async ({ body }) => { const id: number = body.id; return { status: 200, body: { name: String(id) } } } }`,
    /^TS2322 Type 'bigint' is not assignable to type 'number'/,
  ],
}

const diagnosed = diagnoseProbes(Object.values(mistakes).map(([handlers]) => probe(handlers)))
for (const [index, [mistake, [, reason]]] of Object.entries(mistakes).entries())
  t.test(`${mistake} does not compile`, async (t) => {
    const diagnostics = diagnosed[index] ?? []
    t.equal(diagnostics.length, 1, diagnostics.join('\n'))
    t.match(diagnostics[0], reason)
  })

t.test('a status range covers its unnamed statuses, default the rest', async (t) => {
  const types = `import type { RangesResponse, RestResponse } from './bodies/handler-types.d.ts'
    export const all: [RangesResponse[], RestResponse] = `
  const valid = [
    '[[{ status: 200, body: 1 }, { status: 404, body: 2 }, { status: 418, body: 3 }, { status: 204, body: undefined }],',
    '{ status: 599, body: 5 }]',
  ].join('')
  const invalid = ['{ status: 404, body: 3 }', '{ status: 500, body: 4 }', '{ status: 418, body: 1 }']
  const [found, ...others] = diagnoseProbes(
    [valid, ...invalid.map((reply) => `[[${reply}], { status: 200, body: 5 }]`)].map((all) => types + all),
  )
  t.same(found, [])
  for (const [index, reply] of invalid.entries()) t.not(others[index]?.length, 0, reply)
})

t.test('declared response headers are typed, required ones must be given', async (t) => {
  const types = `import type { HeadersResponse } from './bodies/handler-types.d.ts'
    export const reply: HeadersResponse = `
  const valid = [
    "{ status: 200, headers: { 'X-A': 1n, 'X-B': '' }, body: undefined }",
    '{ status: 201, body: undefined }',
    '{ status: 204, body: undefined }',
  ]
  const invalid = [
    '{ status: 200, body: undefined }',
    "{ status: 200, headers: { 'X-A': 1 }, body: undefined }",
    "{ status: 200, headers: { 'X-A': 1n, 'X-C': '' }, body: undefined }",
    "{ status: 200, headers: { 'X-A': 1n, 'x-request-id': '' }, body: undefined }",
    '{ status: 204, headers: {}, body: undefined }',
  ]
  const found = diagnoseProbes([...valid, ...invalid].map((reply) => types + reply))
  for (const [index, reply] of valid.entries()) t.same(found[index], [], reply)
  for (const [index, reply] of invalid.entries()) t.not(found[valid.length + index]?.length, 0, reply)
})

type Probe = [id: string, taken: string, statements: string]

/** Compiles handlers and returns the compiler's diagnostics of each. */
const problems = (probes: Probe[]): string[] =>
  diagnoseProbes(
    probes.map(
      ([id, taken, statements]) =>
        `import type { Handlers } from './bodies/handler-types.d.ts'
      export const handler: Handlers['${id}'] = async ({ ${taken} }) => {
        ${statements}
        return { status: 204, body: undefined }
      }\n`,
    ),
  ).map((lines) => lines.join('\n'))

const loop = (statements: string) => `for await (const part of body) { ${statements} }`

t.test('the type of a body follows its media type', async (t) => {
  const valid: Probe[] = [
    [
      'form',
      'body, signal',
      loop("if (part.name === 'file') part.stream.pipe(process.stdout); signal.throwIfAborted()"),
    ],
    ['form', 'body', loop("if (part.name === 'ids') { const id: bigint = part.value; void id }")],
    ['form', 'body', loop("if ('stream' in part) { const name: string | undefined = part.filename; void name }")],
    [
      'openForm',
      'body',
      loop(
        'const name: string = part.name; if ("stream" in part) part.stream.resume(); else void [name, part.value + 1n]',
      ),
    ],
    ['openFiles', 'body', loop("if ('stream' in part) part.stream.resume(); else part.value.trim()")],
    ['unclearForm', 'body', loop("if ('stream' in part) part.stream.resume(); else part.value.trim()")],
    [
      'related',
      'body, contentType',
      "body.resume(); contentType satisfies 'multipart/related' | 'text/csv;charset=latin1'",
    ],
    ['bytes', 'body, signal', 'for await (const chunk of body ?? []) chunk.copy(Buffer.alloc(1)); void signal'],
    [
      'text',
      'body, contentType',
      "if (contentType === 'text/plain') { const one: 'a' | 'b' = body; void one } else body.destroy()",
    ],
    ['range', 'body, contentType', 'if (body !== undefined) { body.resume(); contentType satisfies string }'],
    ['json', 'body, contentType', "if (contentType === 'Application/JSON') body.length; else body + 1n"],
    ['none', 'body', 'body satisfies undefined'],
  ]
  for (const [index, problem] of problems(valid).entries()) t.equal(problem, '', `${valid[index]}`)
})

t.test('a response of parts needs a boundary', async (t) => {
  const types = `import type { PartsResponse } from './bodies/handler-types.d.ts'
    const body = new Uint8Array()
    export const reply: PartsResponse = `
  const valid = [
    "{ status: 200, contentType: 'multipart/mixed; boundary=a', body }",
    '{ status: 200, contentType: \'multipart/mixed;boundary="a"\', body }',
    "{ status: 200, contentType: 'multipart/related; boundary=a', body }",
  ]
  const invalid = [
    "{ status: 200, contentType: 'multipart/mixed', body }",
    "{ status: 200, contentType: 'multipart/related; boundary=b', body }",
    "{ status: 200, contentType: 'multipart/mixed; boundary=a', body: 'text' }",
    '{ status: 200, body }',
  ]
  const found = diagnoseProbes([...valid, ...invalid].map((reply) => types + reply))
  for (const [index, reply] of valid.entries()) t.same(found[index], [], reply)
  for (const [index, reply] of invalid.entries()) t.not(found[valid.length + index]?.length, 0, reply)
})

t.test('a client sends parts with their boundary', async (t) => {
  const types = `import type { ExactClient } from '${sources}/client/exact-client.ts'
    import type { paths } from './bodies/api.d.ts'
    declare const client: ExactClient<paths>
    export declare const body: Uint8Array
    export declare const blob: Blob
    export const reply = client.POST`
  const valid = [
    "('/related', { contentType: 'multipart/related; boundary=a', body })",
    "('/related', { contentType: 'multipart/related', headers: { 'content-type': 'multipart/related; boundary=a' }, body })",
    "('/related', { contentType: 'text/csv;charset=latin1', body })",
    "('/unclearForm', { contentType: 'multipart/form-data', body: { name: 'a', meta: blob, more: [blob] } })",
  ]
  const invalid = [
    "('/related', { contentType: 'multipart/mixed; boundary=a', body })",
    "('/related', { contentType: 'multipart/related; boundary=a', body: { id: 1n } })",
    "('/unclearForm', { contentType: 'multipart/form-data; boundary=a', body: {} })",
    "('/unclearForm', { contentType: 'multipart/form-data', body: { meta: {} } })",
  ]
  const found = diagnoseProbes([...valid, ...invalid].map((call) => types + call))
  for (const [index, call] of valid.entries()) t.same(found[index], [], call)
  for (const [index, call] of invalid.entries()) t.not(found[valid.length + index]?.length, 0, call)
})

t.test('using a property of another body type does not compile', async (t) => {
  const invalid: [...Probe, reason: RegExp][] = [
    ['form', 'body', 'body.id', /Property 'id' does not exist/],
    ['form', 'body', loop('part.value'), /Property 'value' does not exist/],
    ['form', 'body', loop("if (part.name === 'file') part.value"), /Property 'value' does not exist/],
    ['form', 'body', loop("if (part.name === 'other') part"), /no overlap/],
    [
      'form',
      'body',
      loop("if (part.name === 'id') part.value + 1"),
      /Operator '\+' cannot be applied to types 'bigint'/,
    ],
    ['openForm', 'body', loop("if (!('stream' in part)) part.value.length"), /'length' does not exist/],
    ['openFiles', 'body', loop("if (!('stream' in part)) part.value * 2n"), /left-hand side of an arithmetic/],
    ['form', 'body, contentType', 'contentType', /Property 'contentType' does not exist/],
    ['bytes', 'body', 'body.destroy()', /'body' is possibly 'undefined'/],
    ['text', 'body', 'body.destroy()', /Property 'destroy' does not exist/],
    ['text', 'contentType', "if (contentType === 'image/jpeg') return", /no overlap/],
    ['json', 'body', 'body.length', /Property 'length' does not exist/],
    ['json', 'signal', 'signal', /Property 'signal' does not exist/],
    ['none', 'body', 'body.length', /'body' is possibly 'undefined'|does not exist on type 'never'|possibly/],
  ]
  const found = problems(invalid.map(([id, taken, statements]) => [id, taken, statements]))
  for (const [index, [id, , statements, reason]] of invalid.entries())
    t.match(found[index], reason, `${id}: ${statements}`)
})
