import type { Call } from '../served-documents.ts'
import type { components } from './api.d.ts'
import type { Handlers } from './handler-types.d.ts'

type Expression = components['schemas']['Expression']

function value(expression: Expression): bigint {
  if (typeof expression === 'bigint') return expression
  if ('sum' in expression) return expression.sum.map(value).reduce((a, b) => a + b)
  if ('product' in expression) return expression.product.map(value).reduce((a, b) => a * b)
  if ('minus' in expression) return -value(expression.minus)
  return value(value(expression.if) === 0n ? expression.else : expression.then)
}

export const handlers: Handlers = {
  addTree: async ({ body }) => ({ status: 200, body }),
  evaluate: async ({ body }) => ({ status: 200, body: value(body) }),
}

const tree = '{"id":1,"children":[{"id":9007199254740993,"parent":{"id":1}}],"byName":{"a":{"id":2,"parent":null}}}'

export const calls: Call[] = [
  { request: 'POST /trees', send: tree, body: tree },
  { request: 'POST /trees', send: { id: 1, children: [{ id: 2, children: [{}] }] }, status: 400, error: 40003 },
  { request: 'POST /trees', send: { id: 1, byName: { a: { id: 'x' } } }, status: 400, error: 40003 },
  { request: 'POST /expressions', send: '9007199254740993', body: '9007199254740993' },
  {
    request: 'POST /expressions',
    send: '{"sum":[9007199254740992,{"minus":{"if":0,"then":1,"else":{"product":[-1,1]}}}]}',
    body: '9007199254740993',
  },
  { request: 'POST /expressions', send: { sum: [1] }, status: 400, error: 40003 },
  { request: 'POST /expressions', send: { minus: { minus: 'x' } }, status: 400, error: 40003 },
]
