import Fastify from 'fastify'
import { compileDocument } from 'fastify-contract-cli/compile'
import type { Document } from 'fastify-contract-cli/testing'
import { diagnose } from 'fastify-contract-test-support/compiler'
import t from 'tap'
import { contractPlugin } from '../../src/routes/contract-plugin.ts'
import { locatedSender } from '../../src/routes/located-response.ts'
import { compileRoutes, errorBody, serveDocument } from '../support/serve-document.ts'

const text = { type: 'string' }
const pet = { type: 'object', required: ['id'], properties: { id: text, owner: text } }
const content = { 'application/json': { schema: pet } }
const headers = { Location: { required: true, schema: text } }
const inPath = (name: string) => ({ name, in: 'path', required: true, schema: text })
const read = (operationId: string, ...names: string[]) => ({
  get: { operationId, parameters: names.map(inPath), responses: { 200: { description: 'a', content } } },
})
const created = (links: object, more: object = {}) => ({ description: 'a', headers, content, links, ...more })

const document = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1' },
  servers: [{ url: 'https://example.com/v1' }],
  paths: {
    '/pets': {
      post: {
        operationId: 'addPet',
        responses: {
          201: created({
            search: { operationId: 'findPets', parameters: {} },
            self: { $ref: '#/components/links/Pet' },
          }),
        },
      },
      get: {
        operationId: 'findPets',
        parameters: [{ name: 'name', in: 'query', required: true, schema: text }],
        responses: { 200: { description: 'a', content } },
      },
    },
    '/pets/{id}': read('getPet', 'id'),
    '/owners/{owner}/pets/{id}:photo': read('getPhoto', 'owner', 'id'),
    '/owners/{owner}/pets': {
      post: {
        operationId: 'addOwned',
        parameters: [inPath('owner')],
        responses: {
          201: created({
            photo: {
              operationRef: '#/paths/~1owners~1{owner}~1pets~1{id}:photo/get',
              parameters: { 'path.owner': '$request.path.owner', id: 'no-{$response.body#/id}' },
            },
          }),
        },
      },
    },
    '/unlinked': { post: { operationId: 'addUnlinked', responses: { 201: created({}) } } },
  },
  components: { links: { Pet: { operationId: 'getPet', parameters: { id: '$response.body#/id' } } } },
} as unknown as Document

const handlers = (id: unknown, given?: object) => {
  const add = async () => ({ status: 201, ...(given && { headers: given }), body: { id } })
  const get = async () => ({ status: 200, body: { id } })
  return { addPet: add, addOwned: add, addUnlinked: add, getPet: get, findPets: get, getPhoto: get } as never
}

t.test('the Location of a created resource is the path of the operation to which a link leads', async (t) => {
  const app = await serveDocument(document, { handlers: handlers('7') })
  const { statusCode, headers } = await app.inject({ method: 'POST', url: '/v1/pets' })
  t.same([statusCode, headers.location], [201, '/v1/pets/7'])
  t.equal((await app.inject(headers.location as string)).statusCode, 200)
  const owned = await app.inject({ method: 'POST', url: '/v1/owners/a%2Fb%20c/pets' })
  t.equal(owned.headers.location, '/v1/owners/a%2Fb%20c/pets/no-7:photo')
})

t.test('a value in Location is percent-encoded, and cannot lead to another path', async (t) => {
  for (const [id, location] of [
    ['a/b?c#d', '/v1/pets/a%2Fb%3Fc%23d'],
    ['é\r\n%', '/v1/pets/%C3%A9%0D%0A%25'],
    ['', undefined],
    ['..', undefined],
    ['\ud800', undefined],
  ]) {
    const app = await serveDocument(document, { handlers: handlers(id) })
    const { statusCode, headers } = await app.inject({ method: 'POST', url: '/v1/pets' })
    t.same([statusCode, headers.location], [location === undefined ? 500 : 201, location], JSON.stringify(id))
  }
})

t.test('a Location of the handler is kept, and one without a link is required', async (t) => {
  const own = await serveDocument(document, { handlers: handlers('7', { Location: '/own' }) })
  t.equal((await own.inject({ method: 'POST', url: '/v1/pets' })).headers.location, '/own')
  const none = await serveDocument(document, { handlers: handlers('7') })
  t.equal((await none.inject({ method: 'POST', url: '/v1/unlinked' })).statusCode, 500)
})

t.test('Location has the prefix of a plugin', async (t) => {
  const app = Fastify()
  const contract = { routes: compileRoutes(document) }
  app.register(contractPlugin, { prefix: '/api', contract, handlers: handlers('7'), verifiers: {}, errorBody } as never)
  t.equal((await app.inject({ method: 'POST', url: '/api/v1/pets' })).headers.location, '/api/v1/pets/7')
})

t.test('a handler need not return a Location that a link makes', async (t) => {
  const { files } = await compileDocument(document, 'pets.yaml')
  const types = ['api.d.ts', 'handler-types.d.ts'].map((name) => [`src/pets/${name}`, files[name]])
  const probes = ['addPet', 'addUnlinked'].map((operationId) => [
    `src/${operationId}.ts`,
    `import type { Handlers } from './pets/handler-types.d.ts'
    export const handler: Handlers['${operationId}'] = async () => ({ status: 201, body: { id: '7' } })\n`,
  ])
  const lines = diagnose(
    probes.map(([path = '']) => path),
    Object.fromEntries([...types, ...probes]),
  )
  t.match(lines, [/^src\/addUnlinked\.ts:.*headers/])
  t.equal(lines.length, 1)
})

t.test('a link without a value makes no Location, and neither does a status without a link', async (t) => {
  const link = { path: '/pets/{id}', values: { id: '$response.body#/id' } }
  const operation = {
    operationId: 'addPet',
    path: '/pets',
    parameters: [],
    schema: { response: { 201: {} } },
    responseHeaders: { 201: [{ name: 'Location', link }] },
  }
  const sent: unknown[] = []
  const send = locatedSender(
    operation as never,
    (_senders, _reply, { headers }) => void sent.push(headers) as undefined,
  )
  const reply = { request: { params: {}, query: {}, headers: {} }, server: { prefix: '' } }
  const respond = (response: object) => send?.({} as never, reply as never, response as never)
  t.throws(() => respond({ status: 201, body: { id: { of: 'an object' } } }), /has no value for id; return Location/)
  respond({ status: 201, body: { id: 7 } })
  respond({ status: 404, body: {} })
  t.same(sent, [{ Location: '/pets/7' }, undefined])
})
