import type { Call } from '../served-documents.ts'
import type { Handlers } from './handler-types.d.ts'

export const handlers: Handlers = {
  async addMaps({ body }) {
    const counts: Record<string, bigint> | undefined = body.counts
    const pair: [string?, bigint?] | undefined = body.pair
    return { status: 200, body: { ...body, ...(counts && { counts }), ...(pair && { pair }) } }
  },
}

const post = (send: unknown) => ({ request: 'POST /maps', send })
const same = (send: string): Call => ({ ...post(send), body: send })
const refused = (send: unknown): Call => ({ ...post(send), status: 400, error: 40003 })

export const calls: Call[] = [
  same('{"counts":{"a":9007199254740993,"__proto__":1,"toString":2}}'),
  same('{"open":{"a":"b","c":[1]},"closed":{"a":"b"},"patterns":{"n-a":1.5,"s-a":"b"},"names":{"a":true}}'),
  { ...post({ silent: { a: 'b', c: 1 } }), body: '{"silent":{"a":"b"}}' },
  same('{"sealed":{"b":"c","a":"b"},"together":{"b":1},"pair":["a",9007199254740993],"unique":["a","b"]}'),
  same('{"anything":{"a":[null,1.5,"b"]}}'),
  refused({ counts: { a: 'b' } }),
  refused({ counts: {} }),
  refused({ open: { a: 1 } }),
  refused({ closed: { b: 1 } }),
  refused({ patterns: { 'n-a': 'b' } }),
  refused({ names: { A: true } }),
  refused({ sealed: { c: 1 } }),
  refused({ together: { a: 1 } }),
  refused({ pair: ['a', 'b'] }),
  refused({ pair: ['a', 1, 2] }),
  refused({ unique: ['a', 'a'] }),
  refused({ nothing: 1 }),
  { request: 'POST /other', send: {}, status: 400, error: 40003 },
]
