import { readFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { compileContract } from 'fastify-contract-cli/compile'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { type Database, handlers, type Pet } from '../../examples/pets/handlers.ts'
import { createPets } from '../../examples/pets/server.ts'
import { requestContext } from '../../src/http/request-context.ts'
import { ownPath } from '../support/own-path.ts'

const directory = ownPath('examples/pets')
const { files, routes } = await compileContract(`${directory}/openapi.yaml`, {
  rules: ownPath('test/examples/redocly.yaml'),
})

/** Creates a database that keeps the pets of each tenant, and counts the transactions that were rolled back. */
function createDatabase() {
  const pets = new Map<string, Pet[]>()
  const database: Database & { rollbacks: number } = {
    rollbacks: 0,
    async transaction(tenant, run) {
      const own = [...(pets.get(tenant) ?? [])]
      try {
        const result = await run({
          count: async () => own.length,
          find: async (id) => own.find((pet) => pet.id === id),
          insert: async (pet) => void own.push(pet),
        })
        pets.set(tenant, own)
        return result
      } catch (error) {
        database.rollbacks++
        throw error
      }
    },
  }
  return database
}

/** Creates the server of the example, and functions that send requests as a tenant. */
function create(t: Test, limits = {}) {
  const lines: string[] = []
  const stream = new Writable({
    write(line, _encoding, done) {
      lines.push(String(line))
      done()
    },
  })
  const database = createDatabase()
  const app = createPets({
    contract: { routes },
    database,
    verifyToken: (token) => ({ name: token, scopes: [] }),
    log: pino({}, stream),
    // The tests share one machine.
    limits: { eventLoopDelay: 60_000, ...limits },
  })
  t.teardown(() => app.close())
  const get = (url: string, token = 'tenant-a', headers = {}) =>
    app.inject({ url, headers: { authorization: `Bearer ${token}`, ...headers } })
  const add = (payload: object, headers = {}) =>
    app.inject({ method: 'POST', url: '/pets', headers: { authorization: 'Bearer tenant-a', ...headers }, payload })
  return { app, database, lines, get, add }
}

t.test('the types of the example are those of its document', async (t) => {
  t.equal(files['api.d.ts'], readFileSync(`${directory}/generated/api.d.ts`, 'utf8'))
})

t.test('the request context has the operation and the client from preParsing hooks on', async (t) => {
  const { app, get } = create(t)
  const seen: unknown[] = []
  const note = (hook: string, request: FastifyRequest) => {
    const { operation, client } = requestContext(request)
    seen.push([hook, operation, client?.name])
  }
  app.addHook('onRequest', async (request) => note('onRequest', request))
  app.addHook('preParsing', async (request) => note('preParsing', request))
  await get('/pets/1')
  t.same(seen, [
    ['onRequest', undefined, undefined],
    ['preParsing', 'getPet', 'tenant-a'],
  ])
})

t.test('each tenant has its own pets, in a transaction of each request', async (t) => {
  const { get, add, database } = create(t)
  t.equal((await add({ id: 1, name: 'Tom' })).body, '{"id":1,"name":"Tom"}')
  t.equal((await get('/pets/1')).statusCode, 200)
  t.same((await get('/pets/1', 'tenant-b')).json(), { code: 404, message: 'there is no such pet' })
  await add({ id: 2, name: 'Tim' })
  const refused = await add({ id: 3, name: 'Tam' })
  t.same([refused.statusCode, refused.json()], [402, { code: 402, message: 'the quota is used up' }])
  t.equal(database.rollbacks, 1)
  t.equal((await get('/pets/3')).statusCode, 404, 'the transaction was rolled back')
})

t.test('a handler logs with the id of the request', async (t) => {
  const { add, lines } = create(t)
  await add({ id: 1, name: 'Tom' }, { 'x-request-id': 'mine' })
  t.match(JSON.parse(lines[0] as string), { request_id: 'mine', tenant: 'tenant-a', msg: 'pet added' })
})

t.test('plugins and the hook of one operation apply', async (t) => {
  const { get, add } = create(t)
  const added = await add({ id: 1, name: 'a'.repeat(200) })
  t.match(added.headers, { 'set-cookie': 'added=yes; HttpOnly', 'x-content-type-options': 'nosniff' })
  const compressed = await get('/pets/1', 'tenant-a', { 'accept-encoding': 'gzip' })
  t.match(compressed.headers, { 'content-encoding': 'gzip', 'content-type': 'application/json; charset=utf-8' })
  t.equal(compressed.headers['set-cookie'], undefined)
  const refused = await get('/pets/a')
  t.match([refused.statusCode, refused.headers['x-content-type-options']], [400, 'nosniff'])
})

t.test('a proxy may strip the base path or not', async (t) => {
  const { get, add } = create(t)
  await add({ id: 1, name: 'Tom' })
  t.same([(await get('/pets/1')).statusCode, (await get('/v1/pets/1')).statusCode], [200, 200])
})

t.test('two servers in one process share nothing', async (t) => {
  const limited = create(t, { requests: 1 })
  const other = create(t)
  t.same([(await limited.get('/pets/1')).statusCode, (await limited.get('/pets/1')).statusCode], [404, 429])
  t.equal((await other.get('/pets/1')).statusCode, 404)
})

t.test('a handler is a function that a test can call', async (t) => {
  const { getPet } = handlers(createDatabase())
  const client = { name: 'tenant-a', scopes: [] }
  const input = { path: { id: 1n }, query: {}, header: {}, cookie: {}, body: undefined, client }
  t.match(await getPet(input, { tenant: 'tenant-a' } as FastifyRequest), { status: 404 })
})
