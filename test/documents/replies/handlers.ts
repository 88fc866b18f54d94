import type { Handlers } from '../../../src/openapi/handler-types.ts'
import type { Call } from '../call.ts'
import type { operations } from './api.d.ts'

export const handlers: Handlers<operations> = {
  async getHeaders({ path }) {
    if (path.case === 'none') return { status: 204, headers: { Location: '/a?b' }, body: undefined }
    if (path.case === 'reason') return { status: 404, headers: { 'X-Reason': 'gone' }, body: 'no' }
    if (path.case === 'refused') return { status: 400, body: 'no' }
    const given = { 'X-Total': 9007199254740993n, 'X-Name': 'fern', 'X-List': [1, 2], 'X-Flat': { a: 1, b: 2 } }
    const more = { 'X-Pairs': { a: true, b: false }, 'Set-Cookie': ['a=1; Path=/', 'b=2'], Vary: 'Cookie' }
    return { status: 200, headers: { ...given, ...more }, body: 'ok' }
  },
}

export const calls: Call[] = [
  {
    request: 'GET /headers/all',
    status: 200,
    body: '"ok"',
    answer: {
      'x-total': '9007199254740993',
      'x-name': 'fern',
      'x-list': '1,2',
      'x-flat': 'a,1,b,2',
      'x-pairs': 'a=true,b=false',
      'set-cookie': ['a=1; Path=/', 'b=2'],
      vary: 'Cookie',
      'content-length': '4',
    },
  },
  { request: 'GET /headers/none', status: 204, body: '', answer: { location: '/a?b' } },
  { request: 'GET /headers/reason', status: 404, body: '"no"', answer: { 'x-reason': 'gone' } },
  { request: 'GET /headers/refused', status: 400, body: '"no"' },
]
