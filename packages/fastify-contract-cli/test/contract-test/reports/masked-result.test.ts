import t from 'tap'
import { jsonReport } from '../../../src/contract-test/reports/json-report.ts'
import { junitReport } from '../../../src/contract-test/reports/junit-report.ts'
import { maskedResult } from '../../../src/contract-test/reports/masked-result.ts'
import { secretMask } from '../../../src/contract-test/reports/secret-mask.ts'
import { terminalReport } from '../../../src/contract-test/reports/terminal-report.ts'
import { context, failure, request, resultOf } from './sample-result.ts'

const secret = 'sec ret"\u00fc-7'
const forms = [
  secret,
  encodeURIComponent(secret),
  JSON.stringify(secret),
  Buffer.from(secret).toString('base64'),
  Buffer.from(secret).toString('base64url'),
]

const result = resultOf((operation) =>
  forms.map((form) =>
    failure(operation, {
      kind: form,
      expected: `not ${form}`,
      got: `${form}!`,
      request: request({ target: `/pets?a=${form}`, headers: [['x-a', form]], body: Buffer.from(form) }),
      response: { status: 500, headers: { a: form, b: [form, 'b'] }, body: Buffer.from(`x${form}x`), milliseconds: 1 },
      earlier: [request({ body: Buffer.from(form) })],
    }),
  ),
)

t.test('no report has a secret, in any of its forms', async (t) => {
  const masked = maskedResult(result, new Map([[secret, '$CONTRACT_TEST_TOKEN']]))
  const [first] = masked.failures
  t.match(first, { expected: 'not $CONTRACT_TEST_TOKEN', request: { target: '/pets?a=$CONTRACT_TEST_TOKEN' } })
  t.equal(first, masked.operations[0]?.failures[0], 'the lists have the same failures')
  const bodies = masked.failures.flatMap(({ request, response }) => [request.body, response?.body])
  const texts = [
    JSON.stringify(masked),
    jsonReport(masked, context),
    junitReport(masked, context),
    terminalReport(masked, context),
    ...bodies.map((body) => Buffer.from(body as Uint8Array).toString()),
  ]
  for (const text of texts) for (const form of forms) t.notOk(text.includes(form), form)
})

t.test('what is no secret stays as it is', async (t) => {
  t.equal(maskedResult(result, new Map()), result)
  t.equal(maskedResult(result, new Map([['abc', '$CONTRACT_TEST_SHORT']])), result, 'a short text is no secret')
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  const binary = resultOf((operation) => [
    failure(operation, { request: request({ body: bytes }), response: undefined }),
    failure(operation, { request: request({ body: undefined }) }),
  ])
  const masked = maskedResult(binary, new Map([['long secret', '$CONTRACT_TEST_LONG']]))
  t.same(masked.failures[0]?.request.body, bytes)
  t.equal(masked.failures[0]?.response, undefined)
  t.equal(masked.failures[1]?.request.body, undefined)
})

t.test('a secret that begins with another one is masked as a whole', async (t) => {
  const both = new Map([
    ['secret', '$CONTRACT_TEST_A'],
    ['secret-more', '$CONTRACT_TEST_B'],
  ])
  const masked = maskedResult(
    resultOf((operation) => [failure(operation, { got: 'secret-more secret' })]),
    both,
  )
  t.equal(masked.failures[0]?.got, '$CONTRACT_TEST_B $CONTRACT_TEST_A')
})

t.test('a secret that a server splits, cuts, encodes or repeats in a longer text is masked', async (t) => {
  const token = `eyJhbGciOiJFUzI1NiJ9.${'eyJzdWIiOiJhIiwic2NvcGUiOiJyZWFkIn0'}.Q2hhcmFjdGVycyBvZiBhIHNpZ25hdHVyZSBhcmUgcmFuZG9t`
  const mask = secretMask(
    new Map([
      [token, '$T'],
      ['user:pass/word & <more>', '$P'],
    ]),
  )
  const [, payload = '', signature = ''] = token.split('.')
  t.equal(mask(`got ${token}.`), 'got $T.')
  t.equal(mask(payload), '$T')
  t.equal(mask(JSON.stringify({ a: signature.slice(0, 20), b: signature.slice(20) })), '{"a":"$T","b":"$T"}')
  t.equal(mask(`the token ${token.slice(0, 40)}`), 'the token $T', 'a text that was cut')
  t.equal(mask(token.replace(/(.{20})/g, '$1\n')).match(/[\w-]{12}/), null, 'lines')
  for (const before of ['', 'a', 'ab', 'Bearer ', 'Authorization: Bearer '])
    for (const encoding of ['base64', 'base64url'] as const) {
      const masked = mask(Buffer.from(`${before}${token}, and more`).toString(encoding))
      t.match(masked, /\$T/)
      const left = Buffer.from(masked.replace('$T', ''), 'base64').toString()
      t.notMatch(left, token.slice(-20, -8), `${before} ${encoding}`)
      t.ok(masked.length < 60, masked)
    }
  const password = 'pass/word & <more>'
  const forms = [
    password,
    encodeURIComponent(password),
    encodeURIComponent(password).toLowerCase(),
    new URLSearchParams({ p: password }).toString(),
    JSON.stringify(password).replace('/', '\\/'),
    'pass/word &amp; &lt;more&gt;',
    Buffer.from(password).toString('hex'),
    btoa(`user:${password}`),
  ]
  for (const form of forms) {
    const masked = mask(`x ${form} y`)
    t.match(masked, /\$P/, form)
    t.notMatch(masked, /word|more/, form)
  }
  t.equal(mask('user'), 'user', 'the name of a user is no secret')
  t.equal(
    mask('an ordinary text of a server, with twelve characters'),
    'an ordinary text of a server, with twelve characters',
  )
})
