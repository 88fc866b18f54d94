import { join } from 'node:path'
import t, { type Test } from 'tap'
import { contractChanges } from '../../src/changes/contract-changes.ts'
import type { Document } from '../../src/document/openapi-document.ts'

const text = { type: 'string' }
const query = (name: string, more: object = {}) => ({ name, in: 'query', schema: text, ...more })
const id = { name: 'id', in: 'path', required: true, schema: text }
const long = `Which ones to list${', and what else there is to say about it'.repeat(9)}.`

type Item = Record<string, unknown>

const operation = (parameters: object[], more: object = {}) => ({
  get: { operationId: 'list', parameters, responses: { 204: { description: 'Done' } }, ...more },
})

/** Returns the changes between two path items: the severity, what happens, and the pointer below the path item. */
async function changesOf(t: Test, before: Item, after: Item): Promise<string[]> {
  const [older, newer] = [before, after].map((item) => ({
    openapi: '3.1.0',
    info: { title: 'Boxes', version: '1.0.0' },
    paths: { '/boxes/{id}': item },
  }))
  const directory = t.testdir({ 'older.json': JSON.stringify(older), 'newer.json': JSON.stringify(newer) })
  const [from, to] = ['older.json', 'newer.json'].map((name) => join(directory, name)) as [string, string]
  const changes = await contractChanges(from, to, newer as unknown as Document)
  return changes.map(({ weight, what }) => `${weight} ${what.replace('#/paths/~1boxes~1{id}', '').split(':')[0]}`)
}

t.test('parameters are compared by their name and location', async (t) => {
  const edits: [title: string, before: Item, after: Item, changes: string[]][] = [
    [
      'a parameter gets another description',
      operation([id, query('page')]),
      operation([id, query('page', { description: long, deprecated: true })]),
      ['compatible modified /get/parameters/1/deprecated', 'text modified /get/parameters/1/description'],
    ],
    [
      'parameters get another order',
      operation([id, query('page'), query('size')]),
      operation([query('size'), id, query('page')]),
      [],
    ],
    [
      'a parameter that resembles another one is replaced',
      operation([id, query('sorted'), query('sorted_by', { schema: { type: 'integer' } })]),
      operation([id, query('with'), query('sorted_by', { schema: { type: 'integer' } })]),
      ['breaking modified /get/parameters/1/name'],
    ],
    [
      'a parameter moves to the path item and is narrowed',
      operation([id, query('page', { schema: { ...text, maxLength: 9, description: long } })]),
      { parameters: [id, query('page', { schema: { ...text, maxLength: 5 } })], ...operation([]) },
      ['breaking modified /parameters/1/schema/maxLength', 'text modified /parameters/1/schema'],
    ],
    [
      'a parameter becomes required',
      operation([id, query('page', { required: false })]),
      operation([query('page', { required: true, description: long }), id]),
      ['breaking modified /get/parameters/0/required', 'text modified /get/parameters/0/description'],
    ],
    ['a path item without operations loses its parameters', { parameters: [id], summary: 'a' }, { summary: 'a' }, []],
    [
      'defaults are written out',
      operation([id, query('page')]),
      operation([
        { ...id, style: 'simple', explode: false, deprecated: false },
        query('page', { style: 'form', explode: true, required: false, allowReserved: false, allowEmptyValue: false }),
      ]),
      [],
    ],
    [
      'an operation loses its idempotency keys',
      operation([id, { name: 'idempotency-key', in: 'header', schema: text }]),
      operation([id]),
      ['breaking removed /get/parameters/1'],
    ],
    [
      'an operation gets idempotency keys',
      operation([id]),
      operation([id, { name: 'Idempotency-Key', in: 'header', schema: text }]),
      ['compatible added /get/parameters/1'],
    ],
    [
      'an operation gets idempotency keys that are required',
      operation([id]),
      operation([id, { name: 'Idempotency-Key', in: 'header', required: true, schema: text }]),
      ['breaking added /get/parameters/1'],
    ],
    [
      'a list is not exploded any more',
      operation([id, query('page', { schema: { type: 'array', items: text } })]),
      operation([id, query('page', { schema: { type: 'array', items: text }, explode: false })]),
      ['breaking modified /get/parameters/1/explode'],
    ],
  ]
  for (const [title, before, after, changes] of edits) t.same(await changesOf(t, before, after), changes, title)
})

t.test('an error response that no longer occurs breaks no client unless another response stands for it', async (t) => {
  const of = (...statuses: string[]) => ({
    get: {
      operationId: 'list',
      parameters: [id],
      responses: Object.fromEntries(statuses.map((status) => [status, { description: 'What comes' }])),
    },
  })
  const edits: [title: string, before: Item, after: Item, changes: string[]][] = [
    ['an error', of('204', '404'), of('204'), ['compatible removed /get/responses/404']],
    [
      'an error for another one',
      of('204', '404'),
      of('204', '409'),
      ['compatible removed /get/responses/404', 'compatible added /get/responses/409'],
    ],
    [
      'an error in a range',
      of('204', '404'),
      of('204', '4XX'),
      ['breaking removed /get/responses/404', 'compatible added /get/responses/4XX'],
    ],
    [
      'an error with a default',
      of('204', '404', 'default'),
      of('204', 'default'),
      ['breaking removed /get/responses/404'],
    ],
    ['a success', of('200', '204'), of('204'), ['breaking removed /get/responses/200']],
  ]
  for (const [title, before, after, changes] of edits) t.same(await changesOf(t, before, after), changes, title)
})

t.test(
  'a write that comes to require a precondition breaks clients, and one that evaluates them does not',
  async (t) => {
    const done = { description: 'Done', headers: { ETag: { schema: text } } }
    const put = (responses: object) => ({ put: { operationId: 'put', parameters: [id], responses } })
    const stale = { 412: { description: 'Another state' } }
    t.same(await changesOf(t, put({ 204: done }), put({ 204: done, ...stale })), [
      'compatible added /put/responses/412',
    ])
    const required = { ...stale, 428: { description: 'No precondition' } }
    t.same(await changesOf(t, put({ 204: done, ...stale }), put({ 204: done, ...required })), [
      'breaking added /put/responses/428',
    ])
    t.same(await changesOf(t, put({ 204: done, ...required }), put({ 204: done, ...stale })), [
      'compatible removed /put/responses/428',
    ])
  },
)
