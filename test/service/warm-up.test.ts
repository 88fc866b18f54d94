import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { listVerifier } from '../../packages/fastify-contract/src/auth/tokens.ts'
import { newContext } from '../../packages/fastify-contract/src/http/request-context.ts'
import { rateLimit } from '../../packages/fastify-contract/src/limits/limits.ts'
import { requiredScopes } from '../../packages/fastify-contract/src/serve/security.ts'
import { withWarmUp } from '../../packages/fastify-contract/src/service/warm-up.ts'
import { within } from '../../scripts/system/poll.ts'
import type { AppOptions } from '../../src/app.ts'
import type { PlantOperations, PlantStore, StoredPlant } from '../../src/store/plant-store.ts'
import { rehearsed } from '../../src/warm-up.ts'
import { sqliteSkipReason } from '../support/better-sqlite.ts'
import { contract } from '../support/contract.ts'
import { openSocket } from '../support/open-socket.ts'
import { sourceCode } from '../support/service-code.ts'
import { startService } from '../support/service-process.ts'
import { createTestApp, token } from '../support/test-app.ts'

type Rehearsal = Pick<PlantStore, 'rehearsal'>

const warm = { WARM_UP: 'on', LOG_LEVEL: 'debug' }

/** Returns an effect that fails the test when the app calls it. */
const unused = (t: Parameters<typeof createTestApp>[0], name: string) => () => {
  t.fail(`${name} of the service is not used`)
  return undefined as never
}

/** Warms up an app and fails the test when the app uses one of its own effects. */
async function rehearse(t: Parameters<typeof createTestApp>[0], store: Rehearsal, time?: number) {
  const own = { create: unused(t, 'create') } as unknown as PlantOperations
  const { operations, rehearsal } = rehearsed(own, store)
  const { effects, warmUp } = withWarmUp({
    verifyToken: unused(t, 'verifyToken'),
    requestLimit: { take: unused(t, 'requestLimit') },
    observer: { begin: unused(t, 'begin'), end: unused(t, 'end') },
    shed: unused(t, 'shed'),
    draining: unused(t, 'draining'),
  })
  const { app } = await createTestApp(t, { store: operations, ...effects })
  const started = performance.now()
  await warmUp(app, contract.routes, rehearsal, time)
  return { app, took: performance.now() - started }
}

t.test('each request of the warm-up is answered with 200', async (t) => {
  const { listen } = await createTestApp(t)
  const port = await listen()
  const { rehearsal } = rehearsed({} as PlantOperations, {})
  for (const text of rehearsal.requests(token)) {
    const client = await openSocket(t, port, text)
    t.match(await client.receives(/\r\n\r\n./), /^HTTP\/1\.1 200 OK\r\n/)
  }
})

t.test('the warm-up calls the rehearsal of the store, and nothing of the service', async (t) => {
  let creates = 0
  const create = async () => {
    creates++
    return 'created' as const
  }
  await rehearse(t, { rehearsal: async () => ({ create }) as unknown as PlantOperations }, 60_000)
  t.ok(creates > 1_000, `${creates} creates`)
})

t.test('outside of the warm-up the app has the effects of the service', async (t) => {
  const told: unknown[] = []
  const own = { create: async () => 'conflict' } as unknown as PlantOperations
  const { operations, rehearsal } = rehearsed(own, {})
  const { effects, warmUp } = withWarmUp({
    verifyToken: () => ({ name: 'a', scopes: requiredScopes(contract.routes.operations) }),
    requestLimit: { take: () => told.push('take') && 0 },
    observer: { begin: () => told.push('begin'), end: () => told.push('end') },
    shed: (reason) => told.push(reason),
    draining: () => true,
  })
  const { app, create } = await createTestApp(t, { store: operations, ...effects })
  await warmUp(app, contract.routes, rehearsal, 100)
  t.same(told, [])
  t.equal((await create({ id: 1, name: 'a' })).status, 409)
  t.same(told.splice(0), ['take'])
  const context = newContext('POST')
  effects.observer.begin(context)
  effects.observer.end(context)
  effects.shed('in_flight')
  t.same(told, ['begin', 'end', 'in_flight'])
  t.ok(effects.draining())
})

t.test('the warm-up uses a memory store where the store has no rehearsal', (t) => t.resolves(rehearse(t, {}, 200)))

t.test('the warm-up ends in time when a rehearsal does not answer', async (t) => {
  const create = () => new Promise<never>(() => {})
  const { took } = await rehearse(t, { rehearsal: async () => ({ create }) as unknown as PlantOperations }, 300)
  t.ok(took >= 250 && took < 20_000, `${took} ms`)
})

/** Creates an app with working effects; `warmUp` warms it up, and `real` has the plants that reached its own store. */
async function warmUpApp(t: Parameters<typeof createTestApp>[0], limits: AppOptions['limits'] = {}) {
  const real: StoredPlant[] = []
  const own = { create: async (plant: StoredPlant) => real.push(plant) && 'created' } as unknown as PlantOperations
  const store: Rehearsal = {}
  const { operations, rehearsal } = rehearsed(own, store)
  const { effects, warmUp } = withWarmUp({
    verifyToken: listVerifier([token], requiredScopes(contract.routes.operations)),
    requestLimit: rateLimit(limits?.requests ?? 0),
    observer: { begin() {}, end() {} },
    shed() {},
    draining: () => false,
  })
  const { app, log, create } = await createTestApp(t, { store: operations, ...effects, limits })
  return {
    app,
    log,
    create,
    real,
    warmUp: (given: Rehearsal, time = 300) => {
      Object.assign(store, given)
      return warmUp(app, contract.routes, rehearsal, time)
    },
  }
}

t.test('a rehearsal that inherits its operations, or has none, leaves the store unused', async (t) => {
  let creates = 0
  class Rehearsed {
    async create() {
      creates++
      return 'created' as const
    }
  }
  for (const rehearsal of [new Rehearsed(), {}] as unknown as PlantOperations[]) {
    const { real, warmUp } = await warmUpApp(t)
    await warmUp({ rehearsal: async () => rehearsal }, 5_000)
    t.same(real, [])
  }
  t.ok(creates > 0)
})

t.test('the warm-up uses up no rate limit of a client', async (t) => {
  const { create, warmUp } = await warmUpApp(t, { requests: 1 })
  await warmUp({})
  t.equal((await create({ id: 1, name: 'a' })).status, 200)
  t.equal((await create({ id: 1, name: 'a' })).status, 429)
})

t.test('the warm-up fails in time when `rehearsal` does not settle', async (t) => {
  const { create, real, warmUp } = await warmUpApp(t)
  const warming = warmUp({ rehearsal: () => new Promise(() => {}) })
  const reason = /^the rehearsal did not settle within 300 ms$/
  await t.rejects(within(warming, 'the end of the warm-up'), reason)
  t.equal((await create({ id: 1, name: 'a' })).status, 200)
  t.equal(real.length, 1)
})

t.test('a rehearsal that does not answer leaves no running handler', async (t) => {
  const { create, warmUp } = await warmUpApp(t, { inFlight: 1 })
  const stuck = { create: () => new Promise(() => {}) }
  await warmUp({ rehearsal: async () => stuck as unknown as PlantOperations })
  t.equal((await create({ id: 1, name: 'a' })).status, 200)
})

t.test('the warm-up neither serves nor waits for connections of other processes', async (t) => {
  const { app, create, warmUp } = await warmUpApp(t, { authFailures: 1 })
  let received = 'nothing was sent'
  app.server.once('connection', ({ localPort }: Socket) => {
    const other = connect(localPort as number, '127.0.0.1').setEncoding('latin1')
    other
      .on('error', () => {})
      .on('data', (text) => {
        received += text
      })
    other.on('connect', () => {
      received = ''
    })
    other.write('POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer wrong\r\nContent-Length: 0\r\n\r\n')
    t.teardown(() => other.destroy())
  })
  // The app keeps an idle connection open for longer.
  await within(warmUp({}, 5_000), 'the end of the warm-up', 30_000)
  t.equal(received, '')
  const { status } = await create({ id: 1, name: 'a' }, { authorization: 'Bearer wrong' })
  t.equal(status, 401, 'the limit of authentication failures is unspent')
})

t.test('after a warm-up nothing is stored, logged or counted', { skip: sqliteSkipReason }, async (t) => {
  const STORE_URL = `sqlite:${join(t.testdir({}), 'plants.db')}`
  const { create, output, page, stop } = await startService(t, { ...warm, STORE_URL }, sourceCode)
  const { body: metrics } = await page('/metrics')
  t.match(metrics, /^plant_store_batch_plants_count 0$/m)
  t.match(metrics, /^http_server_active_requests 0$/m)
  t.notMatch(metrics, /http_server_request_duration_seconds_count|requests_refused_total\{/)
  t.notMatch(metrics, /^plant_store_requests_shed_total\{.*\} [1-9]/m)
  t.equal((await page('/readyz')).status, 200)
  const answer = await create('{"id":1,"name":"another plant than the example"}')
  t.equal(answer.status, 200, 'the id of the example is free')
  t.match(answer.headers['x-request-id'], /-1$/, 'it is the first request')
  await stop()
  t.equal(output.stdout.match(/"msg":"request"/g)?.length, 1)
  t.notMatch(output.stdout, /warm-up/)
})

t.test('a rehearsal that fails is not logged for each request', async (t) => {
  const directory = t.testdir({
    'store.mjs': `import { openStore } from '${sourceCode.storeModule}'
    const rehearsal = async () => ({ create() { throw new Error('no stage') } })
    export const open = async () => ({ ...(await openStore('memory:')), rehearsal })`,
  })
  const environment = { ...warm, LOG_LEVEL: 'info', STORE_URL: `module:${directory}/store.mjs` }
  const { create, output, stop } = await startService(t, environment, sourceCode)
  t.equal((await create('{"id":1,"name":"a"}')).status, 200)
  await stop()
  t.notMatch(output.stdout, /no stage/)
  t.match(output.stdout, /"msg":"request"/, 'after the warm-up the server logs')
})

t.test('a warm-up that fails does not stop the start', async (t) => {
  const directory = t.testdir({
    'store.mjs': `import { openStore } from '${sourceCode.storeModule}'
    export const open = async () => ({ ...(await openStore('memory:')), rehearsal() { throw new Error('no stage') } })`,
  })
  const environment = { ...warm, STORE_URL: `module:${directory}/store.mjs` }
  const { create, find } = await startService(t, environment, sourceCode)
  t.equal((await create('{"id":1,"name":"a"}')).status, 200)
  await find('stdout', /"level":"debug",.*"message":"no stage".*"msg":"warm-up failed"/)
})
