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
  const cases: [unknown, string, number][] = [
    [coded('FST_ERR_BAD_URL'), 'undecodableTarget', 400],
    [coded('FST_ERR_MAX_PARAM_LENGTH'), 'noSuchPath', 404],
    [coded('ERR_HTTP_REQUEST_TIMEOUT'), 'tooSlow', 408],
    [coded('HPE_HEADER_OVERFLOW'), 'headersTooLarge', 431],
    [coded('HPE_INVALID_METHOD'), 'malformedRequest', 400],
    [coded('FST_ERR_CTP_INVALID_CONTENT_LENGTH', 400), 'malformedRequest', 400],
    [coded('ERR_ANYTHING', 502), 'internal', 500],
    [new Error('secret'), 'internal', 500],
    ['secret', 'internal', 500],
    [null, 'internal', 500],
    [undefined, 'internal', 500],
    [{ retryAfter: 1 }, 'internal', 500],
  ]
  for (const [thrown, name, status] of cases) {
    const { kind, statusCode, message } = toContractError(thrown)
    t.same([kind, statusCode], [name, status])
    t.notMatch(message, /secret/)
  }
})

t.test('the status of an error is that of its name, another one that is given, or 500', async (t) => {
  t.equal(new ContractError('notJson', 'no').statusCode, 400)
  t.equal(new ContractError('idTaken', 'taken', {}, 409).statusCode, 409)
  t.equal(new ContractError('idTaken', 'taken').statusCode, 500)
})

t.test('a contract error rejects headers that HTTP does not allow', async (t) => {
  const withHeader = (name: string, value: string) => () => new ContractError('unavailable', 'full', { [name]: value })
  t.throws(withHeader('retry-after', '1\nx: y'), TypeError)
  t.throws(withHeader('retry after', '1'), TypeError)
})

t.test('an error with retryAfter becomes a 503', async (t) => {
  const { kind, headers } = toContractError(Object.assign(new Error('full'), { retryAfter: 0.2 }))
  t.equal(kind, 'unavailable')
  t.same(headers, { 'retry-after': '1' })
})
