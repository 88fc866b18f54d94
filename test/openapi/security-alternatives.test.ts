import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { ContractError } from '../../src/http/errors.ts'
import { authenticator, type Verifier } from '../../src/openapi/security.ts'

const refused = (error: Error): Verifier => {
  return (_request, done) => done(error)
}
const unknown = new ContractError('missingToken', 'a token is needed')
const limited = new ContractError('tooManyRequests', 'too many requests', { 'retry-after': '1' })
const verifiers = { unknown: refused(unknown), limited: refused(limited) }

t.test(
  'of two schemes that refuse, the one that says more than that credentials are missing is answered',
  async (t) => {
    for (const [schemes, expected] of [
      [['unknown', 'limited'], limited],
      [['limited', 'unknown'], limited],
      [['unknown', 'unknown'], unknown],
    ] as const) {
      const requirements = schemes.map((name) => ({ [name]: [] }))
      authenticator(requirements, verifiers)({} as FastifyRequest, (refusal) =>
        t.equal(refusal, expected, schemes.join()),
      )
    }
    t.plan(3)
  },
)
