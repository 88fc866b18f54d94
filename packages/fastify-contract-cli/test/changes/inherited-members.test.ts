import { join } from 'node:path'
import t from 'tap'
import { comparableDocument } from '../../src/changes/comparable-document.ts'
import { contractChanges } from '../../src/changes/contract-changes.ts'
import type { Document } from '../../src/document/openapi-document.ts'

type Parts = { item?: object; operation?: object; document?: object }

const responses = { 204: { description: 'Done' } }
const bounded = (maximum: number) => ({ name: 'size', in: 'query', schema: { type: 'integer', maximum } })
const size = bounded(9)
const security = [{ token: [] }]
const servers = [{ url: 'https://example.com/v1' }]
const components = {
  securitySchemes: { token: { type: 'http', scheme: 'bearer' }, password: { type: 'http', scheme: 'basic' } },
}

/** Returns a document of two operations in one path item, with more members at each level. */
const documentOf = ({ item = {}, operation = {}, document = {} }: Parts) => ({
  openapi: '3.2.0',
  info: { title: 'Boxes', version: '1.0.0' },
  components,
  paths: {
    '/boxes': {
      get: { operationId: 'list', responses, ...operation },
      additionalOperations: { COPY: { operationId: 'copy', responses, ...operation } },
      ...item,
    },
  },
  ...document,
})

const comparable = (parts: Parts) => comparableDocument(documentOf(parts) as Document).document

t.test('it does not matter at which level parameters, security and servers are written', async (t) => {
  const same: [title: string, one: Parts, other: Parts][] = [
    ['parameters', { item: { parameters: [size] } }, { operation: { parameters: [size] } }],
    [
      'an overridden parameter',
      { item: { parameters: [bounded(5)] }, operation: { parameters: [size] } },
      { operation: { parameters: [size] } },
    ],
    ['security', { document: { security } }, { operation: { security } }],
    ['servers of the document', { document: { servers } }, { operation: { servers } }],
    ['servers of a path item', { item: { servers } }, { document: { servers } }],
  ]
  for (const [title, one, other] of same) t.same(comparable(one), comparable(other), title)
})

t.test('a difference at another level remains a difference', async (t) => {
  const different: [title: string, one: Parts, other: Parts][] = [
    ['parameters', { item: { parameters: [size] } }, { operation: { parameters: [bounded(8)] } }],
    ['no security', { document: { security } }, { document: { security }, operation: { security: [] } }],
    ['servers', { document: { servers } }, { operation: { servers: [{ url: '/v2' }] } }],
  ]
  for (const [title, one, other] of different) t.notSame(comparable(one), comparable(other), title)
})

t.test('a path item keeps its parameters if a reference leads to one of them', async (t) => {
  const $ref = '#/paths/~1boxes/parameters/0/schema'
  const copy = { parameters: [{ name: 'copy', in: 'query', schema: { $ref } }] }
  const { paths } = comparable({ item: { parameters: [size] }, operation: copy }) as never as { paths: object }
  t.match(paths, { '/boxes': { parameters: [size], get: copy } })
})

t.test('the service sends webhooks, so the security of the document does not protect them', async (t) => {
  const webhooks = { full: { post: { responses } } }
  const { webhooks: compared } = comparable({ document: { security, webhooks } }) as never as { webhooks: object }
  t.same(compared, webhooks)
})

t.test('changes are reported where the document has them', async (t) => {
  const older = documentOf({ item: { parameters: [size] }, document: { security } })
  const { get } = documentOf({}).paths['/boxes']
  const newer = { ...documentOf({ document: { security: [{ password: [] }] } }), paths: { '/boxes': { get } } }
  const directory = t.testdir({ 'older.json': JSON.stringify(older), 'newer.json': JSON.stringify(newer) })
  const changes = await contractChanges(join(directory, 'older.json'), join(directory, 'newer.json'), newer as never)
  const told = changes.filter(({ weight }) => weight === 'breaking').map(({ what }) => what.replace(/:.*/, ''))
  t.same(told.sort(), [
    'removed #/paths/~1boxes/additionalOperations',
    'removed #/paths/~1boxes/parameters',
    'removed #/security/0',
  ])
})
