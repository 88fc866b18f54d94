import t from 'tap'
import { diagnose as diagnoseModules } from '../../../../test/support/compiler.ts'
import { compileDocument } from '../../src/compile/compile.ts'
import type { Document } from '../../src/compile/document/openapi-document.ts'

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
const { 'api.d.ts': types = '' } = (await compileDocument(document, 'trees.yaml')).files

/** Compiles a text as a module of src and returns the compiler's diagnostics, one line each. */
const diagnose = (text: string): string[] =>
  diagnoseModules(['src/probe.ts'], { 'src/probe.ts': text, 'src/trees.d.ts': types }).map((line) =>
    line.replace(/^src\/probe\.ts:\d+ /, ''),
  )

const probe = (handlers: string) =>
  diagnose(
    `import type { Handlers } from '../packages/fastify-contract/src/serve/handler-types.ts'
    import type { operations } from './trees.d.ts'
    export const handlers: Handlers<operations> = ${handlers}\n`,
  )

t.test("handlers of the document's types compile", async (t) => {
  t.same(
    probe(`{
    async addTree({ body }) {
      const id: bigint = body.id
      if (id === 1n) return { status: 409, body: { error: 40900, message: '' } }
      return { status: 200, body: { name: body.name } }
    },
  }`),
    [],
  )
})

/** Wrong handlers, each with a pattern that the compiler's diagnostic must match. */
const mistakes: Record<string, [handlers: string, reason: RegExp]> = {
  'a missing handler': ['{}', /^TS2741 Property 'addTree' is missing in type '{}'/],
  'a surplus handler': [
    `{ addTree: async () => ({ status: 200, body: { name: '' } }), removeTree: async () => {} }`,
    /^TS2353 .* 'removeTree' does not exist in type 'Handlers/,
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

for (const [mistake, [handlers, reason]] of Object.entries(mistakes)) {
  t.test(`${mistake} does not compile`, async (t) => {
    const diagnostics = probe(handlers)
    t.equal(diagnostics.length, 1, diagnostics.join('\n'))
    t.match(diagnostics[0], reason)
  })
}

t.test('a status range covers its unnamed statuses, default the rest', async (t) => {
  const types = `import type { OperationResponse } from '../packages/fastify-contract/src/serve/handler-types.ts'
    type Json<Body> = { content: { 'application/json': Body } }
    type Reply = OperationResponse<{ responses: { 200: Json<1>; 404: Json<2>; '4XX': Json<3>; 204: {}; default: Json<4> } }>
    type Default = OperationResponse<{ responses: { default: Json<5> } }>
    export const all: [Reply[], Default] = `
  const valid = [
    '[[{ status: 200, body: 1 }, { status: 404, body: 2 }, { status: 418, body: 3 }, { status: 204, body: undefined }],',
    '{ status: 599, body: 5 }]',
  ].join('')
  t.same(diagnose(`${types}${valid}`), [])
  for (const reply of ['{ status: 404, body: 3 }', '{ status: 500, body: 4 }', '{ status: 418, body: 1 }']) {
    t.not(diagnose(`${types}[[${reply}], { status: 200, body: 5 }]`).length, 0, reply)
  }
})

t.test('declared response headers are typed, required ones must be given', async (t) => {
  const types = `import type { OperationResponse } from '../packages/fastify-contract/src/serve/handler-types.ts'
    type Headers = { 'X-A': bigint; 'X-B'?: string; 'x-request-id': string; [name: string]: unknown }
    type Reply = OperationResponse<{ responses: { 200: { headers: Headers }; 201: { headers: { ETag?: string; [name: string]: unknown } }; 204: {} } }>
    export const reply: Reply = `
  const valid = [
    "{ status: 200, headers: { 'X-A': 1n, 'X-B': '' }, body: undefined }",
    '{ status: 201, body: undefined }',
    '{ status: 204, body: undefined }',
  ]
  for (const reply of valid) t.same(diagnose(`${types}${reply}`), [], reply)
  const invalid = [
    '{ status: 200, body: undefined }',
    "{ status: 200, headers: { 'X-A': 1 }, body: undefined }",
    "{ status: 200, headers: { 'X-A': 1n, 'X-C': '' }, body: undefined }",
    "{ status: 200, headers: { 'X-A': 1n, 'x-request-id': '' }, body: undefined }",
    '{ status: 204, headers: {}, body: undefined }',
  ]
  for (const reply of invalid) t.not(diagnose(`${types}${reply}`).length, 0, reply)
})
