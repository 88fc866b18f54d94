import { renameProperty } from './rename-property.ts'
import { shareResponses } from './share-responses.ts'
import { splitDocument } from './split-document.ts'
import type { WalkCall } from './walk-calls.ts'
import type { WalkProject } from './walk-project.ts'

/** One change of a maintainer. */
export type WalkStep = {
  name: string
  /** Edits the document, and the sources in which the compiler then reports errors. */
  change(project: WalkProject): Promise<void>
  /** Existing tests to run; tests that the change adds or edits run as well. */
  tests: string[]
  /** Calls to the service after the change, with a new store. */
  calls: WalkCall[]
}

/** Tests that show that operations are served and typed as the contract says. */
const ofContract = [
  'test/serve/on-route.test.ts',
  'test/contract/property/generated-requests.test.ts',
  'test/handlers.test.ts',
]
const ofStores = ['test/store/open.test.ts', 'test/store/sqlite.test.ts']

const create = (id: number, more: object = {}): WalkCall => {
  const plant = { name: `plant ${id}`, ...more }
  return { request: 'POST /plants', send: { id, ...plant }, status: 200, body: plant }
}
const get = (id: number): WalkCall => ({ request: `GET /plants/${id}`, status: 200, body: { name: `plant ${id}` } })
const page = (query: string, ids: number[], more: object = {}): WalkCall => {
  const plants = ids.map((id) => ({ id, name: `plant ${id}`, ...more }))
  const next = plants.length === 0 ? {} : { next: ids.at(-1) }
  return { request: `GET /plants?${query}`, status: 200, body: { plants, ...next } }
}
const photo = (method: string) => ({
  request: `${method} /plants/7/photo`,
  headers: (token: string) => ({ authorization: `Bearer ${token}`, 'content-type': 'image/jpeg' }),
})

export const steps: WalkStep[] = [
  {
    name: 'GET /plants/{id}',
    async change(project) {
      shareResponses(project.directory)
      await project.patch('get-plant.patch')
    },
    tests: [...ofContract, ...ofStores, 'test/scripts/mock.test.ts'],
    calls: [create(7), get(7), { request: 'GET /plants/8', status: 404 }, { request: 'GET /plants/x', status: 400 }],
  },
  {
    name: 'GET /plants: limit, cursor, tag',
    change: (project) => project.patch('list-plants.patch'),
    tests: [...ofContract, ...ofStores],
    calls: [
      ...[3, 1, 2].map((id) => create(id, { tag: id === 1 ? 'a' : 'b' })),
      page('limit=1', [1], { tag: 'a' }),
      page('cursor=1&tag=b', [2, 3], { tag: 'b' }),
      page('cursor=3', []),
    ],
  },
  {
    name: 'DELETE with 204',
    change: (project) => project.patch('delete-plant.patch'),
    tests: [...ofContract, ...ofStores],
    calls: [create(7), { request: 'DELETE /plants/7', status: 204 }, { request: 'GET /plants/7', status: 404 }],
  },
  {
    name: 'a deprecated property',
    change: (project) => project.patch('deprecated-property.patch'),
    tests: ofContract,
    calls: [create(7, { tag: 'a' })],
  },
  {
    name: 'a renamed property',
    async change(project) {
      await project.patch('renamed-property.patch')
      renameProperty(project.directory, 'tag', 'category')
    },
    tests: [...ofContract, 'test/client/client.test.ts'],
    calls: [create(7, { category: 'a' }), page('category=a', [7], { category: 'a' })],
  },
  {
    name: 'a second security scheme',
    change: (project) => project.patch('second-security-scheme.patch'),
    tests: [...ofContract, 'test/auth/bearer.test.ts', 'test/scripts/mock.test.ts'],
    calls: [
      create(7),
      { ...get(7), headers: (token) => ({ authorization: '', 'x-api-key': token }) },
      { ...get(7), headers: () => ({ authorization: '', 'x-api-key': 'another' }), status: 401, body: undefined },
    ],
  },
  {
    name: 'a scope on DELETE',
    change: (project) => project.patch('delete-scope.patch'),
    tests: [...ofContract, 'packages/fastify-contract/test/auth/requirements.test.ts'],
    calls: [create(7), { request: 'DELETE /plants/7', status: 204 }, { request: 'GET /plants/7', status: 404 }],
  },
  {
    name: 'a Link header on the list',
    change: (project) => project.patch('list-link.patch'),
    tests: ofContract,
    calls: [create(7), { ...page('limit=1', [7]), answer: { link: '<?limit=1&cursor=7>; rel="next"' } }],
  },
  {
    name: 'the list as CSV, by Accept',
    change: (project) => project.patch('list-as-csv.patch'),
    tests: [...ofContract, 'test/client/client.test.ts'],
    calls: [
      create(7, { category: 'a' }),
      {
        request: 'GET /plants',
        headers: (token) => ({ authorization: `Bearer ${token}`, accept: 'text/csv' }),
        status: 200,
        body: 'id,name,category\r\n"7","plant 7","a"\r\n',
        answer: { 'content-type': 'text/csv; charset=utf-8', vary: 'Accept' },
      },
      page('limit=1', [7], { category: 'a' }),
    ],
  },
  {
    name: 'a photo, sent and returned as a stream',
    change: (project) => project.patch('photo.patch'),
    tests: [...ofContract, 'test/client/client.test.ts', 'test/scripts/mock.test.ts'],
    calls: [
      create(7),
      { ...photo('PUT'), send: 'a photo', status: 204 },
      { ...photo('GET'), status: 200, body: 'a photo', answer: { 'content-type': 'image/jpeg' } },
      { request: 'DELETE /plants/7', status: 204 },
      { ...photo('GET'), status: 404 },
    ],
  },
  {
    name: 'the document in several files',
    change: splitDocument,
    tests: ofContract,
    calls: [create(7), get(7)],
  },
]
