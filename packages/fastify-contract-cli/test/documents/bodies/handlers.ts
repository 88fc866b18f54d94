import { type Call, refused } from '../served-documents.ts'
import type { Handlers } from './handler-types.d.ts'

export const handlers: Handlers = {
  patchThing: async ({ body }) => ({ status: 200, body }),
  optional: async ({ body }) => ({ status: 200, body: body !== undefined }),
  echoText: async ({ body }) => ({ status: 200, body: body.toString() }),
  echoNull: async ({ body }) => ({ status: 200, body }),
  echoNumber: async ({ body }) => ({ status: 200, body: body + 0n }),
  empty: async ({ body }) => ({ status: body === undefined ? 204 : 304, body: undefined }),
}

const patch = (type: string, send: unknown) => ({
  request: 'PATCH /patch',
  headers: { 'content-type': `application/${type}` },
  send,
})
const wanted = 'application/merge-patch+json, application/json-patch+json, application/json'

export const calls: Call[] = [
  {
    ...patch('merge-patch+json', { a: null }),
    body: '{"a":null}',
    answer: { 'content-type': 'application/vnd.thing.v1+json; charset=utf-8' },
  },
  { ...patch('json-patch+json', [{ op: 'remove' }]), body: '[{"op":"remove"}]' },
  { ...patch('json; charset=utf-8', '"any"'), body: '"any"' },
  { ...patch('merge-patch+json', []), ...refused },
  { ...patch('json-patch+json', [{}]), ...refused },
  { ...patch('xml', '<a/>'), status: 415, error: 41500, answer: { accept: wanted } },
  { ...patch('json', '{'), status: 400, error: 40002 },
  { request: 'PATCH /patch', status: 415, error: 41500 },
  { request: 'POST /optional', body: 'false' },
  { request: 'POST /optional', send: 'null', body: 'true' },
  { request: 'POST /optional', send: '[]', ...refused },
  { request: 'POST /text', send: '"a \\"b\\""', body: '"a \\"b\\""' },
  { request: 'POST /text', send: '""', body: '""' },
  { request: 'POST /text', send: '1', ...refused },
  { request: 'POST /nothing', send: 'null', body: 'null' },
  { request: 'POST /nothing', send: '0', ...refused },
  { request: 'POST /number', send: '9007199254740993', body: '9007199254740993' },
  { request: 'POST /number', send: '"1"', ...refused },
  { request: 'DELETE /empty', status: 204, body: '' },
  { request: 'DELETE /empty', send: {}, status: 304, body: '' },
  { request: 'DELETE /empty', send: { a: 1, b: 2 }, ...refused },
]
