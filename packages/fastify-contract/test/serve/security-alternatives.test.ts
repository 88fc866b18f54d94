import type { FastifyRequest } from 'fastify'
import t from 'tap'
import type { Verifier, Verifiers } from '../../src/auth/verifiers.ts'
import { ContractError, type ErrorName } from '../../src/http/errors.ts'
import { authenticator, requiredScopes } from '../../src/serve/security.ts'

const refused = (error: Error): Verifier => {
  return (_request, done) => done(error)
}
const rejection = (kind: ErrorName, challenge?: string) =>
  new ContractError(kind, kind, challenge === undefined ? {} : { 'www-authenticate': challenge })
const client = { name: 'gardener', scopes: ['read', 'write'] }

const missing = rejection('missingToken', 'Bearer realm="r"')
const keyless = rejection('missingToken')
const invalid = rejection('invalidToken', 'Basic realm="r"')
const scopeless = rejection('insufficientScope')
const limited = rejection('tooManyRequests')
const failed = rejection('internal')
const unavailable = Object.assign(new Error('the issuer is away'), { retryAfter: 1 })
const verifiers: Verifiers = {
  missing: refused(missing),
  keyless: refused(keyless),
  invalid: refused(invalid),
  scopeless: refused(scopeless),
  limited: refused(limited),
  failed: refused(failed),
  unavailable: refused(unavailable),
  client: (_request, done) => done(undefined, client),
  nobody: (_request, done) => done(),
}

/** Checks a request against the security requirements of an operation and returns the outcome. */
function ask(requirements: Record<string, string[]>[], given = verifiers) {
  let told: { rejection?: Error | undefined; name?: string | undefined } = {}
  authenticator(requirements, given)({} as FastifyRequest, (rejection, client) => {
    told = { rejection, name: client?.name }
  })
  return told
}

t.test('of two rejections the more specific one is returned', async (t) => {
  const heavier = [missing, invalid, scopeless, limited, failed, unavailable]
  const names = ['missing', 'invalid', 'scopeless', 'limited', 'failed', 'unavailable']
  for (const [one, first] of names.entries()) {
    for (const [other, second] of names.entries()) {
      const { message } = heavier[Math.max(one, other)] as Error
      t.match(ask([{ [first]: [] }, { [second]: [] }]).rejection, { message }, `${first}, ${second}`)
    }
  }
})

t.test('a 401 has one challenge per alternative', async (t) => {
  const challengeOf = (...schemes: string[]) =>
    (ask(schemes.map((scheme) => ({ [scheme]: [] }))).rejection as ContractError).headers['www-authenticate']
  t.equal(challengeOf('missing', 'invalid'), 'Bearer realm="r", Basic realm="r"')
  t.equal(challengeOf('invalid', 'missing', 'invalid'), 'Basic realm="r", Bearer realm="r"')
  t.equal(challengeOf('keyless', 'missing'), 'Bearer realm="r"')
  t.equal(ask([{ keyless: [] }, { keyless: [] }]).rejection, keyless)
  t.equal(ask([{ missing: [] }, { limited: [] }]).rejection, limited, 'no other status has a challenge')
})

t.test('a client without a required scope is rejected, whatever its verifier does', async (t) => {
  for (const scheme of ['client', 'nobody']) {
    t.match(
      ask([{ [scheme]: ['read', 'delete'] }]).rejection,
      { kind: 'insufficientScope', statusCode: 403, headers: {} },
      scheme,
    )
  }
  t.same(ask([{ client: ['read', 'write'] }]), { rejection: undefined, name: 'gardener' })
  t.match(ask([{ client: ['delete'] }]).rejection, {
    message: 'a scope is missing; the operation needs delete',
  })
})

t.test('each alternative, and each scheme of a combination, has its own scopes', async (t) => {
  t.match(ask([{ client: ['delete'] }, { client: ['write'] }]), { rejection: undefined, name: 'gardener' })
  t.match(ask([{ client: ['delete'] }, { missing: [] }]).rejection, { statusCode: 403 })
  t.match(ask([{ missing: [] }, { client: ['delete'] }]), { rejection: { statusCode: 403 }, name: 'gardener' })
  t.match(ask([{ client: ['write'], nobody: [] }]), { rejection: undefined, name: 'gardener' })
  t.match(ask([{ nobody: [], client: ['delete'] }]).rejection, { statusCode: 403 })
  t.match(ask([{ client: ['write'], nobody: ['write'] }]).rejection, { statusCode: 403 })
  t.match(ask([{ client: [], limited: [] }]), { rejection: limited, name: 'gardener' })
  t.match(ask([{ client: ['delete'], missing: [] }]), { rejection: { statusCode: 403 }, name: 'gardener' })
})

t.test('a verifier receives the scopes', async (t) => {
  const seen: (readonly string[])[] = []
  const key: Verifier = (_request, done, scopes) => {
    seen.push(scopes)
    done(undefined, client)
  }
  ask([{ key: ['read'] }], { key })
  ask([{ key: [] }], { key })
  t.same(seen, [['read'], []])
})

t.test('optional credentials identify the client, whatever the order of the alternatives', async (t) => {
  const anonymous = { rejection: undefined, name: undefined }
  for (const order of [(requirement: object) => [{}, requirement], (requirement: object) => [requirement, {}]] as ((
    requirement: object,
  ) => Record<string, string[]>[])[]) {
    t.same(ask(order({ client: [] })), { rejection: undefined, name: 'gardener' }, 'valid credentials')
    t.same(ask(order({ missing: [] })), anonymous, 'no credentials')
    t.same(ask(order({ invalid: [] })), { rejection: invalid, name: undefined }, 'wrong credentials')
    t.match(ask(order({ client: ['delete'] })), { rejection: { statusCode: 403 } }, 'a missing scope')
    t.same(ask(order({ client: [], missing: [] })), { rejection: missing, name: 'gardener' }, 'half of the credentials')
    t.same(ask(order({ missing: [], client: [] })), { rejection: missing, name: 'gardener' }, 'the other half')
    t.same(ask(order({ missing: [], invalid: [] })), { rejection: invalid, name: undefined }, 'half of them, wrong')
    t.same(ask(order({ missing: [], keyless: [] })), anonymous, 'neither half')
    t.same(ask(order({ unavailable: [] })).rejection, unavailable, 'credentials that cannot be checked')
  }
  t.same(ask([{ missing: [] }, {}, { client: [] }]), { rejection: undefined, name: 'gardener' })
  t.match(ask([{ missing: [] }, {}, { invalid: [] }]), { rejection: { kind: 'invalidToken' } })
  t.same(ask([{ invalid: [] }, { client: [] }]), { rejection: undefined, name: 'gardener' })
  for (const requirements of [[], [{}], [{ missing: [] }, {}, { keyless: [] }]]) {
    t.same(ask(requirements as Record<string, string[]>[]), anonymous)
  }
})

t.test('the scopes of all operations are listed once each', async (t) => {
  const operations = [
    { security: [{ bearer: ['read'] }, { key: [] }] },
    { security: [{ bearer: ['read', 'write'], key: ['prune'] }] },
    { security: [] },
  ]
  t.same(requiredScopes(operations), ['read', 'write', 'prune'])
  t.same(requiredScopes([]), [])
})
