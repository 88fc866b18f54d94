import t from 'tap'
import { errorNumbers } from '../../generated/error-numbers.ts'
import { ContractError, toContractError } from '../../packages/fastify-contract/src/http/errors.ts'
import { contractErrorNumbers } from '../support/contract.ts'

t.test('every error number is in the error table of the document', async (t) => {
  for (const [kind, number] of Object.entries(errorNumbers)) t.ok(contractErrorNumbers.includes(number), kind)
  t.equal(new Set(contractErrorNumbers).size, contractErrorNumbers.length, 'each error has its own number')
})

t.test('every thrown value maps to an error of the contract', async (t) => {
  const known = new ContractError('missingToken', 'an access token is needed')
  t.equal(toContractError(known), known)
  const coded = (code: string, statusCode?: number) => Object.assign(new Error('secret'), { code, statusCode })
  const cases: [unknown, number][] = [
    [coded('FST_ERR_BAD_URL'), 40001],
    [coded('FST_ERR_MAX_PARAM_LENGTH'), 40400],
    [coded('ERR_HTTP_REQUEST_TIMEOUT'), 40800],
    [coded('HPE_HEADER_OVERFLOW'), 43100],
    [coded('HPE_INVALID_METHOD'), 40000],
    [coded('FST_ERR_CTP_INVALID_CONTENT_LENGTH', 400), 40000],
    [coded('ERR_ANYTHING', 502), 50000],
    [new Error('secret'), 50000],
    ['secret', 50000],
    [null, 50000],
    [undefined, 50000],
    [{ retryAfter: 1 }, 50000],
  ]
  for (const [thrown, number] of cases) {
    const { error, statusCode, message } = toContractError(thrown)
    t.equal(error, number)
    t.equal(statusCode, Math.trunc(number / 100))
    t.notMatch(message, /secret/)
  }
})

t.test('a contract error rejects headers that HTTP does not allow', async (t) => {
  const withHeader = (name: string, value: string) => () => new ContractError('unavailable', 'full', { [name]: value })
  t.throws(withHeader('retry-after', '1\nx: y'), TypeError)
  t.throws(withHeader('retry after', '1'), TypeError)
})

t.test('an error with retryAfter becomes a 503', async (t) => {
  const { error, headers } = toContractError(Object.assign(new Error('full'), { retryAfter: 0.2 }))
  t.equal(error, 50300)
  t.same(headers, { 'retry-after': '1' })
})
