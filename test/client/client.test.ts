import t, { type Test } from 'tap'
import { newToken } from '../../packages/fastify-contract/src/auth/tokens.ts'
import { type ClientOptions, createClient } from '../../src/client.ts'
import { startService } from '../support/service-process.ts'

const edges = [-(2n ** 63n), -(2n ** 63n) + 1n, -(2n ** 53n) - 1n, 0n, 2n ** 53n + 1n, 2n ** 63n - 2n, 2n ** 63n - 1n]

/** Starts the service and returns a function that creates clients for it. */
async function start(t: Test, ...tokens: string[]) {
  const { url: baseUrl } = await startService(t, { ACCESS_TOKENS: tokens.join() })
  return (token: Exclude<ClientOptions['token'], undefined>) => createClient({ baseUrl, token })
}

t.test('a plant is created with any 64-bit id', async (t) => {
  const token = newToken()
  const client = (await start(t, token))(token)
  for (const id of edges) {
    const plant = { name: `plant ${id}` }
    const { data, error, response } = await client.POST('/plants', { body: { id, ...plant } })
    t.same([data, error, response.status], [plant, undefined, 200])
  }
  for (const id of edges) {
    const { data, error, response } = await client.POST('/plants', { body: { id, name: 'another' } })
    t.same([data, response.status], [undefined, 409])
    t.strictSame(error, { error: 40900, message: `id ${id} belongs to another plant` })
  }
})

t.test('a rejected request has the Error body', async (t) => {
  const token = newToken()
  const client = (await start(t, token))(token)
  const cases: [unknown, string][] = [
    [{ id: 2n ** 63n, name: 'a' }, 'body/id must be an int64 integer'],
    [{ id: -(2n ** 63n) - 1n, name: 'a' }, 'body/id must be an int64 integer'],
    [{ id: 1n }, "body must have required property 'name'"],
  ]
  for (const [body, message] of cases) {
    const { error, response } = await client.POST('/plants', { body: body as never })
    t.strictSame([error, response.status], [{ error: 40003, message }, 400])
  }
  // @ts-expect-error a number is not an int64
  await client.POST('/plants', { body: { id: 1, name: 'a' } })
  // @ts-expect-error a plant has a name
  await client.POST('/plants', { body: { id: 1n } })
})

t.test('the token is requested for each call, so that it can be rotated', async (t) => {
  const tokens = [newToken(), newToken()]
  const create = await start(t, ...tokens)
  let current = newToken()
  const client = create(async () => current)
  const plant = { body: { id: 1n, name: 'a' } }
  const refused = await client.POST('/plants', plant)
  t.strictSame(refused.error, { error: 40101, message: 'the access token is not valid' })
  t.match(refused.response.headers.get('www-authenticate'), /Bearer realm="plant-store", error="invalid_token"$/)
  for (const token of tokens) {
    current = token
    t.same((await client.POST('/plants', plant)).data, { name: 'a' })
  }
})

t.test('a large request that is rejected by its head has the Error body', async (t) => {
  const token = newToken()
  const create = await start(t, token)
  const body = { id: 1n, name: 'a'.repeat(8_000_000) }
  for (let attempt = 0; attempt < 5; attempt++) {
    const unknown = await create(newToken()).POST('/plants', { body })
    t.match([unknown.response.status, unknown.error], [401, { error: 40101 }])
    const large = await create(token).POST('/plants', { body })
    t.match([large.response.status, large.error], [413, { error: 41300 }])
  }
  const long = await create(token).POST('/plants', {
    body: { id: 1n, name: 'a' },
    headers: { 'x-a': 'a'.repeat(20_000) },
  })
  t.match([long.response.status, long.error], [431, { error: 43100 }])
})
