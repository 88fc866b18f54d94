import type { Document } from 'fastify-contract-cli/testing'
import type { Preconditions } from '../../src/preconditions/precondition-check.ts'

const text = { schema: { type: 'string' } }
const content = { 'application/json': { schema: { type: 'string' } } }

/** A document with a note that has an entity tag. */
export const noteDocument = {
  openapi: '3.1.0',
  info: { title: 'Notes', version: '1' },
  paths: {
    '/note': {
      get: { operationId: 'getNote', responses: { 200: { headers: { ETag: text }, content }, 304: {} } },
      put: { operationId: 'putNote', responses: { 204: { headers: { ETag: text } }, 412: {} } },
    },
  },
} as unknown as Document

/** Handlers of that document: the tag is `"v1"`, and a write makes it `"v2"`. */
export const noteHandlers = {
  getNote: async () => ({ status: 200, headers: { ETag: '"v1"' }, body: 'a'.repeat(5_000) }),
  putNote: async ({ preconditions }: { preconditions: Preconditions<'etag'> }) => {
    const checked = preconditions.check({ etag: '"v1"' })
    return { status: 204, checked, headers: { ETag: '"v2"' }, body: undefined }
  },
}
