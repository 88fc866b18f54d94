import { compileDocument } from 'fastify-contract-cli/compile'
import type { Document } from 'fastify-contract-cli/testing'
import { diagnose } from 'fastify-contract-test-support/compiler'
import t from 'tap'

const text = { schema: { type: 'string' } }
const json = { 'application/json': { schema: { type: 'string' } } }
const bytes = { 'application/pdf': {} }
const empty = { description: 'None.' }
const dated = { description: 'One.', headers: { ETag: text, 'Last-Modified': text } }
const tagged = { description: 'One.', headers: { ETag: text } }
const ifMatch = { name: 'If-Match', in: 'header', schema: { type: 'string' } }

const document = {
  openapi: '3.1.0',
  info: { title: 'Notes', version: '1' },
  paths: {
    '/note': {
      get: { operationId: 'getNote', responses: { 200: { ...dated, content: json }, 304: tagged, 404: empty } },
      put: { operationId: 'putNote', responses: { 204: dated, 404: empty, 412: empty } },
      delete: { operationId: 'deleteNote', parameters: [ifMatch], responses: { 204: empty, 412: empty } },
      post: {
        operationId: 'addNote',
        parameters: [{ ...ifMatch, name: 'if-none-match' }],
        responses: { 204: empty, 412: empty },
      },
    },
    '/digest': {
      get: {
        operationId: 'getDigest',
        'x-etag': 'body',
        responses: { 200: { ...tagged, content: bytes }, 304: empty },
      },
    },
    '/other': {
      get: { operationId: 'getOther', responses: { 200: tagged } },
      put: { operationId: 'putOther', responses: { 204: empty, 412: empty } },
      post: { operationId: 'addOther', responses: { 204: tagged, '4XX': empty } },
    },
  },
} as unknown as Document
const { files } = await compileDocument(document, 'notes.yaml')

const checked = 'checked: preconditions.check'
const done = 'status: 204, body: undefined'

/** Handlers that compile. */
const valid: [operationId: string, taken: string, result: string][] = [
  ['getNote', '', `{ status: 200, headers: { ETag: '"a"', 'Last-Modified': httpDate(new Date()) }, body: '' }`],
  ['getNote', '', `{ status: 200, headers: { ETag: \`W/"\${Date.now()}"\` }, body: '' }`],
  ['getNote', '', `{ status: 304, headers: { ETag: 'any' }, body: undefined }`],
  ['getNote', '', '{ status: 404, body: undefined }'],
  ['putNote', '{ preconditions }', `{ ${done}, ${checked}({ etag: '"a"', lastModified: new Date() }) }`],
  ['putNote', '{ preconditions }', `{ ${done}, ${checked}(undefined) }`],
  ['putNote', '', '{ status: 404, body: undefined }'],
  ['deleteNote', '{ preconditions }', `{ ${done}, ${checked}({ etag: '"a"' }) }`],
  ['addNote', '{ preconditions }', `{ ${done}, ${checked}({}) }`],
  ['getDigest', '', '{ status: 200, body: new Uint8Array() }'],
  ['getOther', '', `{ status: 200, headers: { ETag: 'a' }, body: undefined }`],
  ['putOther', '', `{ ${done} }`],
  ['addOther', '', `{ ${done}, headers: { ETag: 'a' } }`],
]

/** Handlers that do not compile. */
const invalid: typeof valid = [
  ['getNote', '', `{ status: 200, headers: { ETag: 'a' }, body: '' }`],
  ['getNote', '', `{ status: 200, headers: { 'Last-Modified': new Date().toISOString() }, body: '' }`],
  ['getNote', '{ preconditions }', '{ status: 404, body: undefined }'],
  ['putNote', '', `{ ${done} }`],
  ['putNote', '', `{ ${done}, checked: true }`],
  ['putNote', '{ preconditions }', `{ ${done}, ${checked}({ etag: 'a', lastModified: new Date() }) }`],
  ['putNote', '{ preconditions }', `{ ${done}, ${checked}({ etag: '"a"' }) }`],
  ['putNote', '{ preconditions }', `{ ${done}, ${checked}() }`],
  ['deleteNote', '{ preconditions }', `{ ${done}, ${checked}({}) }`],
  ['deleteNote', '', `{ ${done} }`],
  ['getDigest', '', `{ status: 200, headers: { ETag: '"a"' }, body: new Uint8Array() }`],
  ['getDigest', '', '{ status: 200, body: process.stdin }'],
  ['putOther', '{ preconditions }', `{ ${done}, ${checked}(undefined) }`],
]

t.test('a write that lists 412 does not compile without the check, and a read not with an unquoted tag', async (t) => {
  const modules = [...valid, ...invalid].map(([operationId, taken, result], index) => [
    `src/probe-${index}.ts`,
    `import { httpDate } from 'fastify-contract/handlers'
    import type { Handlers } from './notes/handler-types.d.ts'
    export const used = httpDate
    export const handler: Handlers['${operationId}'] = async (${taken}) => (${result})\n`,
  ])
  const types = ['api.d.ts', 'handler-types.d.ts'].map((name) => [`src/notes/${name}`, files[name]])
  const lines = diagnose(
    modules.map(([path = '']) => path),
    Object.fromEntries([...modules, ...types]),
  )
  const linesOf = (index: number) => lines.filter((line) => line.startsWith(`src/probe-${index}.ts:`)).join('\n')
  for (const [index, probe] of valid.entries()) t.equal(linesOf(index), '', probe.join(' '))
  for (const [index, probe] of invalid.entries()) t.not(linesOf(valid.length + index), '', probe.join(' '))
})
