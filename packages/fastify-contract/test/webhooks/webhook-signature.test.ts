import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { newWebhookKeys, newWebhookSecret, signersOf } from '../../src/webhooks/webhook-keys.ts'
import { setSignature, webhookVerifier } from '../../src/webhooks/webhook-signature.ts'

/** The example of the tests of other implementations, and the key of the example of the specification. */
const example = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  secretKey: 'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==',
  publicKey: 'whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  time: 1_614_265_330_000,
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  keySignature: 'v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==',
}

const now = () => example.time

/** Returns the headers of the example, some of them changed. */
const headersOf = (changed: Record<string, string | string[] | undefined> = {}) => ({
  'webhook-id': example.id,
  'webhook-timestamp': String(example.time / 1000),
  'webhook-signature': example.signature,
  ...changed,
})

t.test('signatures are those of other implementations', async (t) => {
  const content = [Buffer.from(`${example.id}.${example.time / 1000}.`), Buffer.from(example.body)]
  const signatures = signersOf([example.secret, example.secretKey]).map((sign) => sign(content))
  t.same(signatures, [example.signature, example.keySignature])
})

t.test('a webhook is verified by its secret, its public key, or one of several', async (t) => {
  const both = `${example.keySignature} ${example.signature}`
  const verified: [secrets: string | string[], signature: string][] = [
    [example.secret, example.signature],
    [example.publicKey, example.keySignature],
    [example.publicKey, both],
    [[newWebhookSecret(), example.secret], `v1,AAAA v2,x ${both}`],
    [[newWebhookKeys().publicKey, example.publicKey], both],
  ]
  for (const [secrets, signature] of verified) {
    const verify = webhookVerifier(secrets, { now })
    const headers = headersOf({ 'webhook-signature': signature })
    const expected = { id: example.id, timestamp: new Date(example.time) }
    t.same(verify(headers, example.body), expected)
    t.same(verify(new Headers(headers), Buffer.from(example.body)), expected)
    const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]))
    t.same(verify(named, new TextEncoder().encode(example.body)), expected)
  }
})

t.test('a webhook with any change is rejected, with its reason', async (t) => {
  const verify = webhookVerifier([example.secret, example.publicKey], { now })
  const seconds = (shift: number) => ({ 'webhook-timestamp': String(example.time / 1000 + shift) })
  const rejected: [reason: string, changed: Record<string, string | string[] | undefined>][] = [
    ['missingHeader', { 'webhook-id': undefined }],
    ['missingHeader', { 'webhook-timestamp': '' }],
    ['missingHeader', { 'webhook-signature': undefined }],
    ['invalidHeader', { 'webhook-id': 'msg.1' }],
    ['invalidHeader', { 'webhook-id': 'a'.repeat(257) }],
    ['invalidHeader', { 'webhook-id': 'a, b' }],
    ['invalidHeader', { 'webhook-timestamp': [example.id, example.id] }],
    ['invalidHeader', { 'webhook-timestamp': `0${example.time / 1000}` }],
    ['invalidHeader', { 'webhook-timestamp': '-1' }],
    ['invalidHeader', { 'webhook-timestamp': '1.5' }],
    ['tooOld', seconds(-301)],
    ['tooNew', seconds(301)],
    ['wrongSignature', seconds(-300)],
    ['wrongSignature', seconds(300)],
    ['wrongSignature', { 'webhook-id': 'msg_other' }],
    ['wrongSignature', { 'webhook-signature': example.signature.slice(0, -1) }],
    ['wrongSignature', { 'webhook-signature': example.signature.replace('v1,', 'v1a,') }],
    ['wrongSignature', { 'webhook-signature': example.keySignature.replace('v1a,', 'v1,') }],
    ['wrongSignature', { 'webhook-signature': 'v1, v1a, v1 v1a ,' }],
    ['wrongSignature', { 'webhook-signature': `v1,${newWebhookSecret()}` }],
  ]
  for (const [reason, changed] of rejected) {
    const reject = () => verify(headersOf(changed), example.body)
    t.throws(reject, { name: 'WebhookVerificationError', reason }, `${reason} ${JSON.stringify(changed)}`)
  }
  for (const body of ['', `${example.body} `, example.body.replace('2', '3')])
    t.throws(() => verify(headersOf(), body), { name: 'WebhookVerificationError', reason: 'wrongSignature' })
  t.throws(() => webhookVerifier(newWebhookSecret(), { now })(headersOf(), example.body), {
    name: 'WebhookVerificationError',
    reason: 'wrongSignature',
  })
})

t.test('the tolerance is an option, and has both directions', async (t) => {
  const at = (shift: number) => webhookVerifier(example.secret, { tolerance: 1_000, now: () => example.time + shift })
  for (const shift of [-1_000, 0, 1_000]) t.ok(at(shift)(headersOf(), example.body), `${shift} ms`)
  t.throws(() => at(1_001)(headersOf(), example.body), { name: 'WebhookVerificationError', reason: 'tooOld' })
  t.throws(() => at(-1_001)(headersOf(), example.body), { name: 'WebhookVerificationError', reason: 'tooNew' })
  for (const tolerance of [Number.NaN, -1])
    t.throws(() => webhookVerifier(example.secret, { tolerance }), { message: /^tolerance: .* is not a number of/ })
  t.throws(
    () => webhookVerifier(example.secret)(headersOf(), example.body),
    { name: 'WebhookVerificationError', reason: 'tooOld' },
    'the clock is the default',
  )
})

t.test('more than 10 signatures are rejected before any is checked', async (t) => {
  const verify = webhookVerifier(example.secret, { now })
  const signatures = (count: number) => `${'v1,AAAA '.repeat(count - 1)}${example.signature}`
  t.ok(verify(headersOf({ 'webhook-signature': signatures(10) }), example.body))
  for (const count of [11, 10_000])
    t.throws(() => verify(headersOf({ 'webhook-signature': signatures(count) }), example.body), {
      reason: 'invalidHeader',
      message: 'webhook-signature has more than 10 signatures',
    })
})

t.test('bytes that are not UTF-8 are verified as they are', async (t) => {
  const secret = Buffer.from(example.secret.slice('whsec_'.length), 'base64')
  const body = Buffer.from([0xff, 0xfe, 0x00])
  const signature = createHmac('sha256', secret).update(`${example.id}.1.`).update(body).digest('base64')
  const headers = headersOf({ 'webhook-timestamp': '1', 'webhook-signature': `v1,${signature}` })
  t.ok(webhookVerifier(example.secret, { now: () => 1_000 })(headers, body))
})

t.test('an invalid secret throws, and its message does not contain it', async (t) => {
  const bytes = (count: number) => Buffer.alloc(count, 7).toString('base64')
  const mismatched = Buffer.from(example.secretKey.slice('whsk_'.length), 'base64').fill(1, 63).toString('base64')
  const invalid = [
    '',
    'secret',
    bytes(32),
    `whsec_${bytes(23)}`,
    `whsec_${bytes(65)}`,
    `whsec_${bytes(31).replace('=', '')}`,
    `whsec_${bytes(32)}\n`,
    undefined as never,
  ]
  const ofUse: [use: (secrets: string[]) => unknown, secrets: string[]][] = [
    [signersOf, [...invalid, example.publicKey, `whsk_${bytes(32)}`, `whsk_${mismatched}`]],
    [webhookVerifier, [...invalid, example.secretKey, `whpk_${bytes(31)}`]],
  ]
  for (const [use, secrets] of ofUse) {
    for (const secret of secrets) {
      const failure = t.throws(() => use([newWebhookSecret(), secret]), {
        name: 'TypeError',
        message:
          /^webhook secret 2 of 2 is not valid; use whsec_ and the base64 of 24 to 64 random bytes, or whs?p?k_ /,
      })
      const text = String(secret)
        .replace(/^wh\w+?_/, '')
        .trim()
      if (text.length > 10) t.notOk(String((failure as Error).stack).includes(text), 'the message is not the secret')
    }
    for (const count of [0, 11])
      t.throws(() => use(Array.from({ length: count }, newWebhookSecret)), {
        message: `${count} webhook secrets are given; use 1 to 10`,
      })
    t.ok(use([`whsec_${bytes(24)}`, `whsec_${bytes(64)}`]))
  }
})

t.test('new secrets and keys are different ones, and work with each other and with standardwebhooks', async (t) => {
  const secret = newWebhookSecret()
  const { secretKey, publicKey } = newWebhookKeys()
  t.not(secret, newWebhookSecret())
  t.not(secretKey, newWebhookKeys().secretKey)
  const headers = new Headers()
  setSignature(headers, 'msg_1', Buffer.from('{"a":1}'), signersOf([secretKey, secret]))
  t.match(headers.get('webhook-signature'), /^v1a,\S{88} v1,\S{44}$/)
  for (const verifying of [secret, publicKey]) t.ok(webhookVerifier(verifying)(headers, '{"a":1}'))
  t.same(new Webhook(secret).verify('{"a":1}', Object.fromEntries(headers)), { a: 1 })
  const signature = new Webhook(secret).sign('msg_2', new Date(example.time), example.body)
  t.ok(
    webhookVerifier(secret, { now })(
      headersOf({ 'webhook-id': 'msg_2', 'webhook-signature': signature }),
      example.body,
    ),
  )
})
