import { type Call, refused } from '../served-documents.ts'
import type { Handlers } from './handler-types.d.ts'

export const handlers: Handlers = {
  async putNote({ body }) {
    const text: string | null = body.text
    const count: bigint | null | undefined = body.count
    const kind: 'short' | 'long' | null | undefined = body.kind
    return { status: 200, body: { ...body, text, ...(count !== undefined && { count }), ...(kind && { kind }) } }
  },
}

const put = (send: unknown) => ({ request: 'PUT /notes', send })

export const calls: Call[] = [
  { ...put('{"text":null,"count":9007199254740993}'), body: '{"text":null,"count":9007199254740993}' },
  {
    ...put({ text: 'ab', weight: 1, count: null, kind: null, tags: ['a', null], nullable: true }),
    body: { kind: null, tags: ['a', null] },
  },
  { ...put({ text: 'ab', reply: { text: null } }), body: { reply: { text: null } } },
  { ...put({ text: 'ab', answer: null }), body: { answer: null } },
  // The type is in another schema, so nullable has no effect.
  { ...put({ text: 'ab', reply: null }), ...refused },
  { ...put({}), ...refused },
  { ...put({ text: 'a' }), ...refused },
  { ...put({ text: 'ab', weight: 0 }), ...refused },
  { ...put({ text: 'ab', weight: null }), ...refused },
  { ...put({ text: 'ab', count: 5 }), ...refused },
  { ...put({ text: 'ab', kind: 'other' }), ...refused },
  { ...put({ text: 'ab', nullable: null }), ...refused },
]
