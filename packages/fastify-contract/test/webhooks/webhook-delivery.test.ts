import type { ServerResponse } from 'node:http'
import { resolve } from 'node:path'
import { compileDocument } from 'fastify-contract-cli/compile'
import type { Document } from 'fastify-contract-cli/testing'
import { diagnose } from 'fastify-contract-test-support/compiler'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import {
  type Delivery,
  newWebhookKeys,
  newWebhookSecret,
  type SenderOptions,
  WebhookError,
  type WebhookTable,
  webhookSender,
  webhookVerifier,
} from '../../src/webhooks.ts'
import { ownPath } from '../support/own-path.ts'
import { type Received, receiver } from '../support/webhook-receiver.ts'

const string = { type: 'string' }
const int64 = { type: 'integer', format: 'int64' }
const event = { type: 'object', required: ['id'], properties: { id: int64 } }
const header = (name: string, schema: object) => ({ name, in: 'header', required: true, schema })
const heard = { 204: { description: 'Heard.' } }

const document = {
  openapi: '3.1.0',
  info: { title: 'Events', version: '1.0.0' },
  webhooks: {
    added: {
      post: {
        parameters: [
          header('webhook-id', string),
          header('webhook-timestamp', { type: 'integer' }),
          header('Webhook-Signature', string),
        ],
        requestBody: { required: true, content: { 'application/json': { schema: event } } },
        responses: { ...heard, 410: { description: 'Gone.' }, 503: { description: 'Busy.' } },
      },
    },
    named: {
      post: { parameters: [header('webhook-id', string), header('X-Event', string)], responses: heard },
    },
    uploaded: {
      put: {
        requestBody: {
          content: {
            'multipart/form-data': { schema: { type: 'object', properties: { note: string } } },
            'application/octet-stream': {},
          },
        },
        responses: heard,
      },
    },
  },
  paths: {},
} as unknown as Document

const { files } = await compileDocument(document, 'events.yaml')
const table: WebhookTable = JSON.parse(files['webhooks.json'] as string)

type Sent = { status: number; delivery: Delivery }
type Send = (name: string, options: object) => Promise<Sent>
const senderOf = (options: SenderOptions = {}) =>
  webhookSender(table, options) as unknown as Record<'POST' | 'PUT', Send>

const body = { id: 9_007_199_254_740_993n }

/** Responds with each of the statuses, then with 204; 0 closes the connection without a response. */
async function receiverOf(t: Test, statuses: number[], headers: Record<string, string> = {}) {
  const left = [...statuses]
  return await receiver(t, function respond(response: ServerResponse) {
    const status = left.shift() ?? 204
    if (status === 0) response.destroy()
    else response.writeHead(status, headers).end()
  })
}

const verifiedBy = (secret: string, { body, headers }: Received) =>
  new Webhook(secret).verify(body, headers as Record<string, string>, { jsonParse: false })

t.test('a webhook is signed, and standardwebhooks verifies it', async (t) => {
  const { received, url } = await receiverOf(t, [])
  const secret = newWebhookSecret()
  const { status, delivery } = await senderOf({ secrets: secret }).POST('added', { url, body })
  t.match([status, delivery], [204, { id: /^msg_[\da-f-]{36}$/, attempts: 1, mayRetry: false, retryAfter: 0 }])
  const [request] = received as [Received]
  t.doesNotThrow(() => verifiedBy(secret, request))
  t.throws(() => verifiedBy(newWebhookSecret(), request), { message: 'No matching signature found' })
  t.equal(request.headers['webhook-id'], delivery.id)
  t.equal(request.body, '{"id":9007199254740993}')
})

t.test('while secrets are rotated, each receiver verifies by the one that it has', async (t) => {
  const { received, url } = await receiverOf(t, [])
  const { secretKey, publicKey } = newWebhookKeys()
  const secrets = [newWebhookSecret(), newWebhookSecret()]
  await senderOf({ secrets: newWebhookSecret() }).POST('added', { url, body, secrets: [...secrets, secretKey] })
  const [request] = received as [Received]
  for (const secret of secrets) t.doesNotThrow(() => verifiedBy(secret, request))
  for (const secret of [...secrets, publicKey]) t.ok(webhookVerifier(secret)(request.headers, request.body))
})

t.test('without secrets, a request has an id and a time but no signature', async (t) => {
  const { received, url } = await receiverOf(t, [])
  await senderOf().POST('added', { url, body, id: 'evt_1', headers: { 'webhook-id': 'other' } })
  t.match(received[0]?.headers, { 'webhook-id': 'evt_1', 'webhook-timestamp': /^\d{10}$/ })
  t.notOk('webhook-signature' in (received[0]?.headers ?? {}))
})

t.test('all attempts have the same id and bytes, and a signature of their own time', async (t) => {
  const { received, url } = await receiverOf(t, [0, 503, 500, 429, 425, 408])
  const secret = newWebhookSecret()
  const start = Date.now()
  t.intercept(Date, 'now', { value: () => start + 1_000 * received.length })
  const sender = senderOf({ secrets: secret, retry: { attempts: 10, delay: 0 } })
  const { status, delivery } = await sender.POST('added', { url, body, id: 'evt_1' })
  t.same([status, delivery], [204, { id: 'evt_1', attempts: 7, mayRetry: false, retryAfter: 0 }])
  t.equal(new Set(received.map(({ headers }) => headers['webhook-timestamp'])).size, 7)
  for (const request of received) {
    t.doesNotThrow(() => verifiedBy(secret, request))
    t.same([request.headers['webhook-id'], request.body], ['evt_1', '{"id":9007199254740993}'])
  }
})

t.test('a form and a stream are the same bytes in each attempt, and so is no body', async (t) => {
  const { received, url } = await receiverOf(t, [500, 204, 500, 204, 500])
  const secret = newWebhookSecret()
  const { PUT } = senderOf({ secrets: secret, retry: { attempts: 2, delay: 0 } })
  await PUT('uploaded', { url, contentType: 'multipart/form-data', body: { note: 'a' } })
  const stream = new Blob(['bytes']).stream()
  await PUT('uploaded', { url, contentType: 'application/octet-stream', body: stream })
  await PUT('uploaded', { url })
  for (const index of [0, 2, 4]) {
    const [first, second] = received.slice(index, index + 2) as [Received, Received]
    t.equal(first.body, second.body)
    t.equal(first.headers['content-type'], second.headers['content-type'])
    t.doesNotThrow(() => verifiedBy(secret, second))
  }
  t.same([received[2]?.body, received[4]?.body], ['bytes', ''])
})

t.test('a body that is signed or repeated is read within bounds, and until the signal aborts', async (t) => {
  const { received, url } = await receiverOf(t, [])
  let canceled = 0
  /** Returns a stream of so many chunks of a kilobyte, which then has no end. */
  const endless = (chunks: number) =>
    new ReadableStream({
      pull(controller) {
        if (chunks-- > 0) controller.enqueue(new Uint8Array(1_024))
        else return new Promise(() => {})
      },
      cancel: () => void canceled++,
    })
  const sent = { url, contentType: 'application/octet-stream' }
  const secrets = newWebhookSecret()
  const bounded = senderOf({ maxBody: 4_096, secrets })
  const tooLarge = { name: 'TypeError', message: 'PUT uploaded: the body has more than 4096 bytes' }
  await t.rejects(bounded.PUT('uploaded', { ...sent, body: endless(Number.POSITIVE_INFINITY) }), tooLarge)
  await t.rejects(bounded.PUT('uploaded', { ...sent, body: new Uint8Array(4_097) }), tooLarge)
  const late = { name: 'TypeError', message: 'PUT uploaded: the body has no end after 100 ms' }
  const repeated = senderOf({ timeout: 100, retry: { attempts: 2 } })
  await t.rejects(repeated.PUT('uploaded', { ...sent, body: endless(1) }), late)
  const controller = new AbortController()
  const aborted = senderOf({ secrets }).PUT('uploaded', { ...sent, body: endless(1), signal: controller.signal })
  controller.abort(new Error('stopped'))
  await t.rejects(aborted, { message: 'stopped' })
  await t.rejects(senderOf({ secrets }).PUT('uploaded', { ...sent, body: endless(1_025) }), { name: 'TypeError' })
  t.equal(canceled, 4, 'no stream is left open')
  t.equal(received.length, 0)
  await bounded.PUT('uploaded', { ...sent, body: new Uint8Array(4_096) })
  t.equal(received[0]?.body.length, 4_096)
})

t.test('a stream that is neither signed nor repeated is not read before', async (t) => {
  const { received, url } = await receiverOf(t, [])
  const stream = new Blob(['bytes']).stream()
  await senderOf().PUT('uploaded', { url, contentType: 'application/octet-stream', body: stream })
  t.match(received[0], { body: 'bytes', headers: { 'transfer-encoding': 'chunked' } })
})

t.test('a status that another attempt would not change ends the attempts', async (t) => {
  const sender = senderOf({ retry: { attempts: 3, delay: 0 } })
  const gone = await receiverOf(t, [410])
  t.match(await sender.POST('added', { url: gone.url, body }), {
    status: 410,
    delivery: { attempts: 1, mayRetry: false },
  })
  for (const status of [200, 301, 400, 401, 404, 413]) {
    const { received, url } = await receiverOf(t, [status])
    const delivery = { id: 'evt_1', attempts: 1, mayRetry: false, retryAfter: 0 }
    await t.rejects(sender.POST('added', { url, body, id: 'evt_1' }), {
      name: 'WebhookError',
      kind: 'unexpectedStatus',
      status,
      delivery,
    })
    t.equal(received.length, 1)
  }
})

t.test('the attempts are bounded, and the last result says whether to go on', async (t) => {
  const sender = senderOf({ retry: { attempts: 3, delay: 0 } })
  const busy = await receiverOf(t, [503, 503, 503])
  const { status, delivery } = await sender.POST('added', { url: busy.url, body })
  t.match([status, delivery], [503, { attempts: 3, mayRetry: true }])
  const broken = await receiverOf(t, [0, 0, 0])
  const rejected = sender.POST('added', { url: broken.url, body })
  await t.rejects(rejected, { name: 'WebhookError', kind: 'unreachable', delivery: { attempts: 3, mayRetry: true } })
  t.same([busy.received.length, broken.received.length], [3, 3])
  const once = await receiverOf(t, [503])
  t.match(await sender.POST('added', { url: once.url, body, retry: { attempts: 1 } }), { delivery: { attempts: 1 } })
})

t.test('no attempt begins after the time for all, or before the receiver allows it', async (t) => {
  const date = new Date(Date.now() + 3_600_000).toUTCString()
  const cases: [header: string, expected: (milliseconds: number) => boolean][] = [
    ['3600', (wait) => wait === 3_600_000],
    [date, (wait) => wait > 3_500_000 && wait <= 3_600_000],
  ]
  for (const [value, isExpected] of cases) {
    // The signal ends a wait at once.
    const controller = new AbortController()
    let attempts = 0
    const fetch = async () => {
      attempts += 1
      controller.abort(new Error('it waits for another attempt'))
      return new Response(null, { status: 503, headers: { 'retry-after': value } })
    }
    const sender = senderOf({ fetch, retry: { attempts: 2, delay: 0 } })
    const { delivery } = await sender.POST('added', { url: 'http://a.example', body, signal: controller.signal })
    t.ok(isExpected(delivery.retryAfter), `${value}: ${delivery.retryAfter}`)
    t.match([attempts, delivery], [1, { attempts: 1, mayRetry: true }], 'it is later than 5 minutes')
  }
  for (const ignored of ['soon', '-1', '1.5', new Date(0).toUTCString()]) {
    const { url } = await receiverOf(t, [503], { 'retry-after': ignored })
    const { status } = await senderOf({ retry: { attempts: 2, delay: 0 } }).POST('added', { url, body })
    t.equal(status, 204, ignored)
  }
  const { url } = await receiverOf(t, [503], { 'retry-after': '1' })
  const start = performance.now()
  await senderOf({ retry: { attempts: 2, delay: 0 } }).POST('added', { url, body })
  t.ok(performance.now() - start >= 999, 'it waits as long as the receiver asks')
  const late = await receiverOf(t, [503, 503])
  const { delivery } = await senderOf({ retry: { attempts: 9, delay: 0, within: 0 } }).POST('added', {
    url: late.url,
    body,
  })
  t.equal(delivery.attempts, 1)
})

t.test('the signal of the caller ends the wait for an attempt with its reason', async (t) => {
  const controller = new AbortController()
  let attempts = 0
  const fetch = async () => {
    attempts += 1
    setTimeout(() => controller.abort(new Error('stopped')), 50)
    return new Response(null, { status: 503, headers: { 'retry-after': '60' } })
  }
  const sender = senderOf({ fetch, retry: { attempts: 2, delay: 0 } })
  const { signal } = controller
  await t.rejects(sender.POST('added', { url: 'http://a.example', body, signal }), { message: 'stopped' })
  t.equal(attempts, 1)
})

t.test('waits are random and double up to their maximum', async (t) => {
  t.intercept(Math, 'random', { value: () => 0.5 })
  const starts: number[] = []
  const { url } = await receiver(t, function respond(response) {
    starts.push(performance.now())
    response.writeHead(503).end()
  })
  await senderOf({ retry: { attempts: 5, delay: 100, maxDelay: 300 } }).POST('added', { url, body })
  const waits = starts.slice(1).map((start, index) => start - (starts[index] as number))
  for (const [index, least] of [50, 100, 150, 150].entries()) t.ok((waits[index] as number) >= least - 5, `${waits}`)
})

t.test('invalid options throw before anything is sent', async (t) => {
  const invalid: [options: object, message: RegExp][] = [
    [{ secrets: 'whsec_short' }, /^webhook secret 1 of 1 is not valid/],
    [{ secrets: undefined }, /^webhook secret 1 of 1 is not valid/],
    [{ secrets: newWebhookKeys().publicKey }, /^webhook secret 1 of 1 is not valid/],
    [{ retry: { attempts: 0 } }, /^retry\.attempts: 0 is not an integer from 1 to 100$/],
    [{ retry: { attempts: 101 } }, /^retry\.attempts: 101 is not/],
    [{ retry: { attempts: 2, delay: -1 } }, /^retry\.delay: -1 is not/],
    [{ retry: { attempts: 2, maxDelay: 0.5 } }, /^retry\.maxDelay: 0.5 is not/],
    [{ retry: { attempts: 2, within: 86_400_001 } }, /^retry\.within: 86400001 is not/],
    [{ retry: {} }, /^retry\.attempts: undefined is not/],
  ]
  const { received, url } = await receiverOf(t, [])
  for (const [options, message] of invalid) {
    t.throws(() => senderOf(options), { name: 'TypeError', message })
    await t.rejects(senderOf().POST('added', { url, body, ...options }), { name: 'TypeError', message })
  }
  for (const id of ['', 'a.b', 'a b', 'ä', 'a'.repeat(257), 'a\n']) {
    const message = `${JSON.stringify(id)} is not the id of a webhook; an id has 1 to 256 visible ASCII characters other than a dot`
    await t.rejects(senderOf().POST('added', { url, body, id }), { name: 'TypeError', message })
  }
  t.equal(received.length, 0)
  t.equal(new WebhookError('timeout', 'late').delivery, undefined)
})

t.test('header parameters that the sender sets are not among those of a call', async (t) => {
  const { received, url } = await receiverOf(t, [])
  const named = { url, params: { header: { 'X-Event': 'a' } } }
  await senderOf({ secrets: newWebhookSecret() }).POST('named', named)
  t.match(received[0]?.headers, { 'x-event': 'a', 'webhook-id': /^msg_/ })
  await t.rejects(senderOf().POST('named', { url }), { message: /must have required property 'X-Event'/ })
  const check = (call: string) =>
    diagnose(['src/check.ts'], {
      'src/api.ts': files['api.d.ts'] as string,
      'src/check.ts': `import { webhookSender, type WebhookTable } from '${resolve(ownPath('src/webhooks.ts'))}'
import type { webhooks } from './api.ts'
declare const table: WebhookTable
const sender = webhookSender<webhooks>(table, { secrets: ['whsec_'], retry: { attempts: 2 } })
const url = 'https://a.example'
const sent = await ${call}
sent.delivery.id satisfies string`,
    })
  const right = [
    `sender.POST('added', { url, body: { id: 1n }, id: 'a', secrets: 'whsec_', retry: { attempts: 3 } })`,
    `sender.POST('named', { url, params: { header: { 'X-Event': 'a' } } })`,
  ]
  for (const call of right) t.same(check(call), [], call)
  for (const call of [`sender.POST('named', { url })`, `sender.POST('added', { url, body: { id: 1n }, retry: {} })`])
    t.match(check(call), [/^src\/check\.ts:6 /], call)
})
