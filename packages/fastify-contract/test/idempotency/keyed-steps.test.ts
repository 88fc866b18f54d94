import type { RouteOptions } from 'fastify'
import t, { type Test } from 'tap'
import { memoryKeys } from '../../src/idempotency.ts'
import { crossOriginNames } from '../../src/routes/register-routes.ts'
import type { Served } from '../support/serve-document.ts'
import { counting, serveKeyed } from './keyed-service.ts'

/** Returns the names of the steps of each operation, by its id. */
async function stepsOf(t: Test, options: Served = {}) {
  const routes: RouteOptions[] = []
  const app = await serveKeyed(
    t,
    { create: counting().create },
    {
      ...options,
      plugins: (app) => void app.addHook('onRoute', (route) => void routes.push(route)),
    },
  )
  await app.ready()
  const names = ({ onRequest = [], preValidation = [], preHandler = [] }: RouteOptions) =>
    [onRequest, preValidation, preHandler].flat().map(({ name }) => name)
  return Object.fromEntries(
    routes.map((route) => [(route.schema as { operationId?: string } | undefined)?.operationId, names(route)]),
  )
}

t.test('only operations that declare the header, with a method that is not safe, have its step', async (t) => {
  const { create, replace, list, other, upload } = await stepsOf(t)
  t.same(replace, ['authenticate', 'guard'])
  t.same(list, ['authenticate'])
  t.same(create, ['authenticate', 'guard', 'prepareKey'])
  t.ok(other?.includes('prepareKey'))
  t.ok(upload?.includes('prepareKey'))
})

t.test('with false, no operation has the step', async (t) => {
  const steps = await stepsOf(t, { idempotency: false })
  t.notOk(Object.values(steps).flat().includes('prepareKey'))
})

/** Returns what a server with some options logs at its start. */
async function logOf(t: Test, options: Served): Promise<string> {
  let text = ''
  const stream = {
    write(line: string) {
      text += line
    },
  }
  const app = await serveKeyed(t, {}, { ...options, logger: { level: 'info', stream } })
  await app.ready()
  return text
}

t.test('without a store, the log says that the keys are in memory', async (t) => {
  t.match(await logOf(t, {}), /"operations":\["create","other","upload"\],.*in the memory of this process only/)
  t.equal(await logOf(t, { idempotency: { store: memoryKeys() } }), '')
})

t.test('pages of other origins see whether a response was stored', async (t) => {
  const namesOf = (parameters: object[]) =>
    crossOriginNames({ operations: [{ method: 'POST', parameters, schema: { response: {} } } as never] })
  const keyed = namesOf([{ in: 'header', name: 'Idempotency-Key', key: 'idempotency-key' }])
  t.ok(keyed.responseHeaders.includes('Idempotent-Replayed'))
  t.ok(keyed.requestHeaders.includes('Idempotency-Key'))
  t.notOk(namesOf([]).responseHeaders.includes('Idempotent-Replayed'))
})
