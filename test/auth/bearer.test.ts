import t from 'tap'
import { authorization, createTestApp, token } from '../support/test-app.ts'

const plant = { id: 1, name: 'Monstera' }
/** The Bearer challenge comes after the challenges of other schemes, if the contract has some. */
const challenge = /(^|, )Bearer realm="plant-store"$/
const challengeOfWrong = /(^|, )Bearer realm="plant-store", error="invalid_token"$/

t.test('the scheme is case-insensitive, the token is not', async (t) => {
  const { create } = await createTestApp(t)
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer ']) {
    t.equal((await create(plant, { authorization: `${scheme} ${token}` })).status, 200)
  }
})

t.test('a missing token gets a challenge without an error code', async (t) => {
  const { create } = await createTestApp(t)
  for (const missing of [undefined, '', 'Bearer', 'Bearer ', token, `Basic ${token}`, `Bearer${token}`]) {
    const { status, headers, body } = await create(plant, { authorization: missing })
    t.same([status, body.error], [401, 40100])
    t.match(headers['www-authenticate'], challenge)
  }
})

t.test('every invalid token gets the same response', async (t) => {
  const { create, log } = await createTestApp(t)
  const wrong = [`Bearer ${token}x`, `Bearer ${token} x`, 'Bearer x', 'Bearer \u00a0', `Bearer "${token}"`]
  for (const authorization of wrong) {
    const { status, headers, body } = await create(plant, { authorization })
    t.equal(status, 401)
    t.match(headers['www-authenticate'], challengeOfWrong)
    t.same(body, { error: 40101, message: 'the access token is not valid' })
  }
  t.same(log, [])
})

t.test('a failing verifier gets 500', async (t) => {
  const { create, log } = await createTestApp(t, {
    verifyToken: () => {
      throw new Error('no tokens')
    },
  })
  const { status, body } = await create(plant, { authorization })
  t.same([status, body.error], [500, 50000])
  t.match(log.join(''), /no tokens/)
  t.notMatch(log.join(''), token)
})
