import t, { type Test } from 'tap'
import { clientNames } from '../../../../test/support/client-names.ts'
import { audience, createKey, seconds, startIssuer } from '../../../../test/support/issuer.ts'
import { type JwtOptions, jwtVerifier } from '../../src/auth/jwt.ts'

const client = 'gardener'
const exp = seconds() + 86_400

/** Starts an issuer with one key and returns it with a verifier that has fetched the key. */
async function fetched(t: Test, times: JwtOptions['times'] = {}) {
  const issuer = await startIssuer(t)
  const key = createKey(issuer.url)
  issuer.serve('/keys', { keys: [key.jwk] })
  const verify = clientNames(jwtVerifier({ issuer: issuer.url, audience, jwksUrl: issuer.jwksUrl, times }))
  t.equal(await verify(key.token()), client)
  return { issuer, verify, token: () => key.token({ claims: { exp } }) }
}

for (const [direction, step] of Object.entries({ forward: 7_200_000, back: -7_200_000 })) {
  t.test(`setting the wall clock ${direction} changes neither key age nor cooldown`, async (t) => {
    const clock = { now: 0 }
    const { issuer, verify, token } = await fetched(t, { now: () => clock.now })
    const second = createKey(issuer.url, { kid: 'two' })
    issuer.serve('/keys', { keys: [second.jwk] })
    const { now } = Date
    t.intercept(Date, 'now', { value: () => now() + step })
    t.equal(await verify(token()), client)
    t.equal(await verify(second.token({ claims: { exp } })), undefined)
    t.same(issuer.asked, ['/keys'])
    clock.now += 10_000
    t.equal(await verify(second.token({ claims: { exp } })), client)
  })
}

t.test('key age is measured with the monotonic clock', async (t) => {
  const { issuer, verify, token } = await fetched(t)
  t.equal(await verify(token()), client)
  t.same(issuer.asked, ['/keys'])
  const now = performance.now.bind(performance)
  t.intercept(performance, 'now', { value: () => now() + 300_000 })
  t.equal(await verify(token()), client)
  t.same(issuer.asked, ['/keys', '/keys'])
})
