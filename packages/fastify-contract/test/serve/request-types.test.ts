import t from 'tap'
import { diagnose } from '../../../../test/support/compiler.ts'
import { compileDocument } from '../../src/compile/compile.ts'
import type { Document } from '../../src/compile/document/openapi-document.ts'

const text = { type: 'string' }
const int64 = { type: 'integer', format: 'int64' }
const form = {
  schema: {
    type: 'object',
    required: ['id'],
    properties: { id: int64, ids: { type: 'array', items: int64 }, file: { type: 'string', format: 'binary' } },
  },
}
const done = { responses: { 204: { description: 'Done.' } } }
const operation = (operationId: string, required: boolean, content: object) => ({
  post: { operationId, requestBody: { required, content }, ...done },
})

/** A document with several kinds of bodies. These tests do not depend on the service's contract. */
const document = {
  openapi: '3.1.0',
  info: { title: 'Bodies', version: '1.0.0' },
  paths: {
    '/form': operation('form', true, { 'multipart/form-data': form }),
    '/bytes': operation('bytes', false, { 'application/pdf': {} }),
    '/text': operation('text', true, { 'text/plain': { schema: { enum: ['a', 'b'] } }, 'image/png': {} }),
    '/range': operation('range', false, { 'image/*': {} }),
    '/json': operation('json', true, {
      'application/a+json;v=1': { schema: int64 },
      'Application/JSON': { schema: text },
    }),
    '/none': { post: { operationId: 'none', ...done } },
  },
} as unknown as Document
const { 'api.d.ts': types = '' } = (await compileDocument(document, 'bodies.yaml')).files

type Probe = [id: string, taken: string, statements: string]

/** Compiles handlers and returns the compiler's diagnostics. */
function problems(probes: Probe[]): string[] {
  const modules = probes.map(([id, taken, statements], index): [string, string] => [
    `src/probe-${index}.ts`,
    `import type { Handlers } from '../packages/fastify-contract/src/serve/handler-types.ts'
      import type { operations } from './bodies.d.ts'
      export const handler: Handlers<operations>['${id}'] = async ({ ${taken} }) => {
        ${statements}
        return { status: 204, body: undefined }
      }\n`,
  ])
  const paths = modules.map(([path]) => path)
  const lines = diagnose(paths, { 'src/bodies.d.ts': types, ...Object.fromEntries(modules) })
  return paths.map((path) => lines.filter((line) => line.startsWith(`${path}:`)).join('\n'))
}

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
