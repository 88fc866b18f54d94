import t from 'tap'
import { apiKey, basic, bearer, createVerifiers, type VerifierContext } from '../../src/auth/verifiers.ts'
import { serveDocument } from '../support/serve-document.ts'

const client = { name: 'gardener', scopes: [] }
const paths = {
  '/either': [{ token: [] }, { password: [] }],
  '/both': [{ token: [], key: [] }],
  '/optional': [{ token: [] }, {}],
  '/scoped': [{ token: ['write'] }],
}
const document = {
  openapi: '3.1.0',
  info: { title: 'Test', version: '1.0.0' },
  components: {
    securitySchemes: {
      token: { type: 'http', scheme: 'bearer' },
      password: { type: 'http', scheme: 'basic' },
      key: { type: 'apiKey', in: 'header', name: 'X-Key' },
    },
  },
  paths: Object.fromEntries(
    Object.entries(paths).map(([path, security]) => [
      path,
      { get: { operationId: path.slice(1), security, responses: { 204: { description: 'Done.' } } } },
    ]),
  ),
}
const done = async () => ({ status: 204, body: undefined })
const handlers = { either: done, both: done, optional: done, scoped: done }

const good = { authorization: 'Bearer good' }
const wrong = { authorization: 'Bearer wrong' }

/** Serves operations with several schemes and limits per minute. `costly` lists which verifications may cost time. */
async function serve({ failures = 0, requests = 0 }) {
  const costly: boolean[] = []
  const verify = (token: string, may = () => true) => {
    costly.push(may())
    return token === 'good' ? client : undefined
  }
  const verifiers = (context: VerifierContext) =>
    createVerifiers(
      {
        token: bearer(verify),
        password: basic(({ password }, may) => verify(password, may)),
        key: apiKey({ in: 'header', name: 'X-Key' }, verify),
      },
      context,
    )
  const app = await serveDocument(document, { handlers, verifiers, limits: { authFailures: failures, requests } })
  const get = async (url: string, headers: Record<string, string>) => (await app.inject({ url, headers })).statusCode
  return { get, costly }
}

t.test('a request that one scheme accepts counts no failure', async (t) => {
  const { get } = await serve({ failures: 1 })
  const basic = { authorization: `Basic ${btoa('a:good')}` }
  for (const headers of [basic, basic, good, basic]) t.equal(await get('/either', headers), 204)
  t.equal(await get('/either', wrong), 401, 'the first failure')
  t.equal(await get('/either', wrong), 429)
  t.equal(await get('/either', basic), 204, 'valid credentials bypass the limit')
})

t.test('a request that several schemes reject counts one failure', async (t) => {
  const { get, costly } = await serve({ failures: 2 })
  t.same([await get('/either', {}), await get('/either', wrong), await get('/either', wrong)], [401, 401, 429])
  t.same(costly, [true, false], 'beyond the limit, verifiers do no expensive work')
})

t.test('a request with two credentials counts once for its client', async (t) => {
  const { get } = await serve({ requests: 2 })
  const both = { ...good, 'x-key': 'good' }
  t.same([await get('/both', both), await get('/both', both), await get('/both', both)], [204, 204, 429])
})

t.test('a request without the scope counts for its client, and gets 429 over the limit', async (t) => {
  const { get } = await serve({ failures: 1, requests: 2 })
  t.same([await get('/scoped', good), await get('/scoped', good), await get('/scoped', good)], [403, 403, 429])
})

t.test('wrong optional credentials count as failures, missing ones do not', async (t) => {
  const { get } = await serve({ failures: 1 })
  for (const _ of [1, 2]) t.equal(await get('/optional', {}), 204)
  t.equal(await get('/either', wrong), 401)
  const other = await serve({ failures: 1 })
  for (const status of [401, 429]) t.equal(await other.get('/optional', wrong), status)
  t.equal(await other.get('/either', wrong), 429)
  t.same(other.costly, [true, false, false])
})
