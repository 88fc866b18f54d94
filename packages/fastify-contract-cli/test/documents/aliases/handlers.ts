import type { Call } from '../served-documents.ts'
import type { Handlers } from './handler-types.d.ts'

export const handlers: Handlers = {
  async "get item 'a/b'"({ path }) {
    const id: bigint = path.id
    return { status: 200, headers: { 'X-Total': id }, body: { ids: [id] } }
  },
  async 'put_list#all'({ path, query, body }) {
    const total: bigint = path.id + query.page
    const ids: bigint[] = body.ids
    return { status: total > 10n ? 201 : 200, headers: { 'X-Total': total }, body: { ids } }
  },
}

export const calls: Call[] = [
  {
    request: 'GET /items/9007199254740993',
    body: '{"ids":[9007199254740993]}',
    answer: { 'x-total': '9007199254740993' },
  },
  { request: 'GET /items/a', status: 400 },
  { request: 'PUT /lists/1', send: { ids: [1] }, body: '{"ids":[1]}', answer: { 'x-total': '6' } },
  { request: 'PUT /lists/1?page=10', send: { ids: [1] }, status: 201, answer: { 'x-total': '11' } },
  { request: 'PUT /lists/1', send: { ids: ['1'] }, status: 400 },
  { request: 'PUT /lists/1', send: {}, status: 400 },
  { request: 'PUT /lists/1?page=a', send: { ids: [1] }, status: 400 },
]
