import type { Call } from '../served-documents.ts'
import type { Handlers } from './handler-types.d.ts'

export const handlers: Handlers = {
  echoWords: async ({ body }) => {
    const exact: (bigint | undefined)[] = [body.contains, body.not]
    return { status: 200, body: { ...body, ...(exact[0] !== undefined && { contains: exact[0] }) } }
  },
  echoConstant: async ({ body }) => ({ status: 200, body }),
  echoCondition: async ({ body }) => ({ status: 200, body }),
  echoPrototype: async () => ({ status: 204, body: undefined }),
  echoDeep: async ({ body: { id = 0n, kind } }) => {
    const known: 'tree' | 'herb' = kind
    return { status: 200, body: known === 'tree' ? id : -id }
  },
  getKind: async () => ({ status: 200, body: 'tree' }),
  echoFree: async ({ body }) => {
    const free: Record<string, unknown> = body
    return { status: 200, body: { ...free, seen: true } }
  },
}

const words = '{"contains":9007199254740993,"not":9007199254740993,"if":"a","default":"ab"}'

export const calls: Call[] = [
  { request: 'POST /words', send: words, body: words },
  {
    request: 'POST /words',
    send: { contains: 'a', not: 1.5, if: 1, default: 'b' },
    status: 400,
    error: 40003,
    body: {
      message: [
        'body/contains must be an int64 integer',
        'body/not must be an int64 integer',
        'body/if must be string',
        'body/default must match pattern "^a"',
      ].join('; '),
    },
  },
  {
    request: 'POST /constants',
    send: '{"type":"integer","format":"int64"}',
    body: '{"type":"integer","format":"int64"}',
  },
  { request: 'POST /constants', send: '1', status: 400, error: 40003 },
  {
    request: 'POST /conditions',
    send: '{"a":1,"x-b":9007199254740993,"c":3}',
    body: '{"a":1,"x-b":9007199254740993,"c":3}',
  },
  { request: 'POST /conditions', send: '{"x-b":"b"}', body: '{"x-b":"b"}' },
  { request: 'POST /conditions', send: '{"a":1,"x-b":"b"}', status: 400, error: 40003 },
  { request: 'POST /prototypes', send: '{"__proto__":1.5}', status: 204, body: '' },
  { request: 'POST /prototypes', send: '{"__proto__":"foo"}', status: 400, error: 40003 },
  { request: 'POST /deep', send: '{"id":9007199254740993,"kind":"herb"}', body: '-9007199254740993' },
  { request: 'POST /deep', send: '{"id":1,"kind":"bush"}', status: 400, error: 40003 },
  { request: 'GET /kinds', body: '"tree"' },
  { request: 'POST /free', send: '{"a":[1]}', body: '{"a":[1],"seen":true}' },
]
