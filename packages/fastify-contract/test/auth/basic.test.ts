import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { basic, tokensAsPasswords, type VerifyPassword } from '../../src/auth/verifiers.ts'
import { verifierContext } from '../support/serve-document.ts'

const context = verifierContext(undefined as never)
const client = { name: 'shop', scopes: ['read'] }
const base64 = (bytes: string | Uint8Array) => Buffer.from(bytes as string).toString('base64')

/** Returns the outcome of a request with an Authorization header. */
async function verified(authorization: string | undefined, verify: VerifyPassword) {
  const request = { headers: { authorization }, raw: { socket: {} } } as unknown as FastifyRequest
  const verifier = await basic(verify)(context)
  return await new Promise<unknown>((resolve) =>
    verifier(request, (rejection, client) => resolve(rejection ?? client), []),
  )
}

/** Returns the credentials that the verifier reads; undefined when it looks up no client. */
async function read(authorization: string) {
  let seen: unknown
  await verified(authorization, (credentials) => {
    seen = credentials
    return client
  })
  return seen
}

t.test('name and password are UTF-8, split at the first colon', async (t) => {
  const cases: [text: string, user: string, password: string][] = [
    ['Aladdin:open sesame', 'Aladdin', 'open sesame'],
    ['test:123£', 'test', '123£'],
    ['a:b:c', 'a', 'b:c'],
    [':', '', ''],
    ['e\u0301:n\u0303', 'é', 'ñ'],
  ]
  for (const [text, user, password] of cases) t.same(await read(`Basic ${base64(text)}`), { user, password })
  for (const scheme of ['basic', 'BASIC ']) {
    t.same(await read(`${scheme} QWxhZGRpbjpvcGVuIHNlc2FtZQ==`), { user: 'Aladdin', password: 'open sesame' })
  }
})

t.test('an Authorization header of another scheme counts as missing', async (t) => {
  const missing = {
    kind: 'missingToken',
    headers: { 'www-authenticate': 'Basic realm="plant-store", charset="UTF-8"' },
  }
  for (const authorization of [undefined, '', 'Basic', 'Basic ', 'Bearer YTpi', 'BasicYTpi']) {
    t.match(await verified(authorization, () => client), missing, String(authorization))
  }
})

t.test('malformed credentials are invalid', async (t) => {
  const texts = [
    'YTpi=',
    'YTp',
    'YTpi YTpi',
    'YTpi,',
    'YT-_',
    'YTpiY===',
    'YTpiYh==',
    base64('no colon'),
    base64('a:b\n'),
    base64('a\0:b'),
    base64('a:\u0085'),
    base64(Buffer.from('a:\xff', 'latin1')),
    base64(`a:${'b'.repeat(3_100)}`),
  ]
  for (const text of texts) {
    t.equal(await read(`Basic ${text}`), undefined, text.slice(0, 20))
    t.match(await verified(`Basic ${text}`, () => client), { kind: 'invalidToken', statusCode: 401 })
  }
  t.ok(await read(`Basic ${base64(`a:${'b'.repeat(3_000)}`)}`), 'up to 4,096 characters')
})

t.test('an asynchronous verifier may accept, reject or fail', async (t) => {
  const authorization = 'Basic YTpi'
  t.equal(await verified(authorization, () => client), client)
  t.equal(await verified(authorization, async () => client), client)
  t.match(await verified(authorization, () => undefined), { kind: 'invalidToken' })
  t.match(await verified(authorization, async () => undefined), { kind: 'invalidToken' })
  const failure = new Error('no passwords')
  t.equal(await verified(authorization, () => Promise.reject(failure)), failure)
  const failing = () => {
    throw failure
  }
  t.equal(await verified(authorization, failing), failure)
})

t.test('the connection is paused while a verifier is pending', async (t) => {
  const told: string[] = []
  const socket = { pause: () => told.push('pause'), resume: () => told.push('resume') }
  const request = { headers: { authorization: 'Basic YTpi' }, raw: { socket } } as unknown as FastifyRequest
  const verify = async () => client
  const verifier = await basic(verify)(context)
  await new Promise<void>((resolve) => verifier(request, () => resolve(), []))
  t.same(told, ['pause', 'resume'])
})

t.test('a token is valid only with the name of its client', async (t) => {
  const known = (token: string) => (token === 'b' ? client : undefined)
  for (const verify of [tokensAsPasswords(known), tokensAsPasswords(async (token) => known(token))]) {
    const as = async (user: string, password: string) => await verify({ user, password }, () => true)
    t.equal(await as('shop', 'b'), client)
    t.same([await as('other', 'b'), await as('shop', 'c'), await as('', '')], [undefined, undefined, undefined])
  }
  const costs: boolean[] = []
  tokensAsPasswords((_token, withinFailureLimit = () => true) => {
    costs.push(withinFailureLimit())
    return undefined
  })({ user: 'a', password: 'b' }, () => false)
  t.same(costs, [false])
})
