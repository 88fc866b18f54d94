import type { FastifyInstance } from 'fastify'
import { compileDocument } from 'fastify-contract-cli/compile'
import type { Document } from 'fastify-contract-cli/testing'
import t, { type Test } from 'tap'
import { bearer } from '../../src/auth/verifiers.ts'
import { signersOf } from '../../src/webhooks/webhook-keys.ts'
import { setSignature } from '../../src/webhooks/webhook-signature.ts'
import {
  newWebhookKeys,
  newWebhookSecret,
  type VerifyWebhook,
  type WebhookTable,
  webhookSender,
  webhookSignature,
  webhookSignatureFor,
  webhookVerifier,
} from '../../src/webhooks.ts'
import { type Served, serveDocument } from '../support/serve-document.ts'

const json = 'application/json'
const event = { type: 'object', required: ['id'], properties: { id: { type: 'integer', format: 'int64' } } }
const bodyOf = (content: object, required = true) => ({ requestBody: { required, content } })
const operation = (operationId: string, more: object) => ({
  operationId,
  responses: { 204: { description: 'Received.' } },
  ...more,
})

const document = {
  openapi: '3.1.0',
  info: { title: 'Receiver', version: '1.0.0' },
  security: [{ signature: [] }],
  paths: {
    '/events': { post: operation('receive', bodyOf({ [json]: { schema: event } })) },
    '/lenient': { post: operation('lenient', bodyOf({ [json]: { schema: event } }, false)) },
    '/text': { post: operation('text', bodyOf({ 'text/plain': { schema: { type: 'string' } }, [json]: {} })) },
    '/form': {
      post: operation('form', bodyOf({ 'application/x-www-form-urlencoded': { schema: { type: 'object' } } })),
    },
    '/nothing/{id}': {
      get: operation('nothing', {
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      }),
      delete: operation('deleted', { parameters: [{ name: 'id', in: 'path', required: true, schema: {} }] }),
    },
    '/either': {
      post: operation('either', {
        security: [{ token: [] }, { signature: [] }],
        ...bodyOf({ [json]: { schema: event } }),
      }),
    },
    '/both': {
      post: operation('both', { security: [{ token: [], signature: [] }], ...bodyOf({ [json]: { schema: event } }) }),
    },
    '/two': {
      post: operation('two', { security: [{ signature: [], other: [] }], ...bodyOf({ [json]: { schema: event } }) }),
    },
    '/optional': {
      post: operation('optional', { security: [{}, { signature: [] }], ...bodyOf({ [json]: { schema: event } }) }),
    },
  },
  components: {
    securitySchemes: {
      signature: { type: 'apiKey', in: 'header', name: 'webhook-signature' },
      other: { type: 'apiKey', in: 'header', name: 'webhook-signature' },
      token: { type: 'http', scheme: 'bearer' },
    },
  },
} as unknown as Document

const secret = newWebhookSecret()
const other = newWebhookSecret()

const ids = ['receive', 'lenient', 'text', 'form', 'nothing', 'deleted', 'either', 'both', 'two', 'optional']

/** Serves the document, and returns the bodies that its handlers got. */
async function serve(options: Served & { verify?: VerifyWebhook } = {}) {
  const got: unknown[] = []
  const handle = async ({ body }: { body: unknown }) => {
    got.push(body)
    return { status: 204, body: undefined }
  }
  const { verify = webhookVerifier(secret), ...others } = options
  const app = await serveDocument(document, {
    handlers: Object.fromEntries(ids.map((id) => [id, handle])) as never,
    verifiers: async (context) => ({
      signature: await webhookSignature(verify)(context),
      other: await webhookSignature(webhookVerifier(other))(context),
      token: await bearer(async (token) => (token === 'right' ? { name: 'a', scopes: [] } : undefined))(context),
    }),
    ...others,
  })
  return { app, got }
}

/** Returns the headers of a webhook that is signed with the secrets. */
function signed(body: string, secrets: string[] = [secret]): Record<string, string> {
  const headers = new Headers()
  setSignature(headers, 'msg_1', Buffer.from(body), signersOf(secrets))
  return Object.fromEntries(headers)
}

async function post(app: FastifyInstance, url: string, body: string, headers: Record<string, string>, type = json) {
  const given = { 'content-type': type, ...headers }
  const { statusCode, ...response } = await app.inject({ method: 'POST', url, payload: body, headers: given })
  return { status: statusCode, headers: response.headers, message: statusCode === 204 ? '' : response.json().message }
}

const body = '{"id": 9007199254740993}'

t.test('a receiver on this engine accepts what the sender of this engine signs', async (t) => {
  const events = {
    openapi: '3.1.0',
    info: { title: 'Events', version: '1.0.0' },
    webhooks: { added: { post: operation('added', bodyOf({ [json]: { schema: event } })) } },
    paths: {},
  }
  const { files } = await compileDocument(events as unknown as Document, 'events.yaml')
  const table: WebhookTable = JSON.parse(files['webhooks.json'] as string)
  const { secretKey, publicKey } = newWebhookKeys()
  const { app, got } = await serve({ verify: webhookVerifier([publicKey, other]) })
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/events`
  t.teardown(() => app.close())
  const sender = webhookSender<never>(table) as unknown as Record<
    'POST',
    (name: string, options: object) => Promise<object>
  >
  for (const secrets of [secretKey, other, [secret, other]]) {
    const sent = { url, body: { id: 9_007_199_254_740_993n }, secrets }
    t.match(await sender.POST('added', sent), { status: 204 })
  }
  t.same(
    got,
    Array.from({ length: 3 }, () => ({ id: 9_007_199_254_740_993n })),
  )
  const rejected = sender.POST('added', { url, body: { id: 1n }, secrets: secret })
  await t.rejects(rejected, { name: 'WebhookError', status: 401, delivery: { mayRetry: false } })
  t.equal(got.length, 3)
})

t.test('the bytes are verified as they were sent, before they are parsed', async (t) => {
  const { app, got } = await serve()
  t.equal((await post(app, '/events', body, signed(body))).status, 204)
  const challenge = 'StandardWebhooks realm="plant-store"'
  const rejected: [body: string, headers: Record<string, string>, message: string][] = [
    [body, {}, 'the headers of a signed webhook are missing'],
    [body, { 'webhook-id': 'a' }, 'the header webhook-timestamp is missing'],
    [body, signed(JSON.stringify(JSON.parse(body))), 'webhook-signature has no signature of this webhook'],
    [body, signed(body, [other]), 'webhook-signature has no signature of this webhook'],
    ['{', signed(body), 'webhook-signature has no signature of this webhook'],
    [body, { ...signed(body), 'webhook-timestamp': '1614265330' }, 'webhook-timestamp is too old'],
  ]
  for (const [sent, headers, message] of rejected) {
    const response = await post(app, '/events', sent, headers)
    t.match(response, { status: 401, message, headers: { 'www-authenticate': challenge } }, message)
  }
  t.equal((await post(app, '/events', '{', signed('{'))).status, 400)
  t.same(got, [{ id: 9_007_199_254_740_993n }])
})

t.test('a webhook that was recorded is refused after the tolerance', async (t) => {
  let time = Date.now()
  const { app } = await serve({ verify: webhookVerifier(secret, { now: () => time }) })
  const headers = signed(body)
  t.equal((await post(app, '/events', body, headers)).status, 204)
  time += 302_000
  t.match(await post(app, '/events', body, headers), { status: 401, message: 'webhook-timestamp is too old' })
})

t.test('a body that is empty or missing is verified, too', async (t) => {
  const { app, got } = await serve()
  const form = 'application/x-www-form-urlencoded'
  const empty: [method: 'POST' | 'GET' | 'DELETE' | 'HEAD', url: string, type: string | undefined, status: number][] = [
    ['POST', '/lenient', undefined, 204],
    ['POST', '/lenient', json, 204],
    ['POST', '/text', 'text/plain', 204],
    ['POST', '/form', form, 204],
    ['GET', '/nothing/a', undefined, 204],
    ['HEAD', '/nothing/a', undefined, 204],
    ['DELETE', '/nothing/a', undefined, 204],
    ['POST', '/events', json, 400],
  ]
  for (const [method, url, type, status] of empty) {
    for (const length of method === 'POST' ? [undefined, '0'] : [undefined]) {
      const given = { ...(type && { 'content-type': type }), ...(length && { 'content-length': length }) }
      const statusOf = async (headers: object) =>
        (await app.inject({ method, url, headers: { ...given, ...headers } })).statusCode
      const before = got.length
      for (const headers of [{}, signed(body), signed('', [other])])
        t.not(await statusOf(headers), 204, `${method} ${url} ${type} ${length}`)
      t.equal(got.length, before, 'no handler was called')
      const right = await statusOf(signed(''))
      if (length === '0' || url !== '/text') t.equal(right, status, `${method} ${url} ${type} ${length}`)
    }
  }
})

t.test('several schemes', async (t) => {
  const { app, got } = await serve()
  const token = { authorization: 'Bearer right' }
  const wrong = { authorization: 'Bearer wrong' }
  const right = signed(body)
  const forged = signed(body, [newWebhookSecret()])
  const cases: [url: string, headers: Record<string, string>, status: number][] = [
    ['/either', token, 204],
    ['/either', right, 204],
    ['/either', { ...token, ...forged }, 204],
    ['/either', { ...wrong, ...right }, 204],
    ['/either', forged, 401],
    ['/either', {}, 401],
    ['/both', { ...token, ...right }, 204],
    ['/both', { ...token, ...forged }, 401],
    ['/both', { ...wrong, ...right }, 401],
    ['/both', token, 401],
    ['/both', right, 401],
    ['/two', signed(body, [secret, other]), 204],
    ['/two', right, 401],
    ['/two', signed(body, [other]), 401],
    ['/optional', {}, 204],
    ['/optional', right, 204],
    ['/optional', forged, 401],
    ['/optional', { 'webhook-id': 'a' }, 401],
  ]
  for (const [index, [url, headers, status]] of cases.entries()) {
    const before = got.length
    t.equal((await post(app, url, body, headers)).status, status, `${index} ${url}`)
    t.equal(got.length - before, status === 204 ? 1 : 0)
  }
})

t.test('forged webhooks do not use up the rate limit of the sender', async (t) => {
  const { app } = await serve({ limits: { requests: 1 } })
  for (const secrets of [[other], [other], [secret], [secret]])
    t.not((await post(app, '/events', body, signed(body, secrets))).status, 429)
})

t.test('wrong signatures count as authentication failures of their address', async (t) => {
  const { app, got } = await serve({ limits: { authFailures: 2 } })
  const forged = signed(body, [other])
  const statuses: number[] = []
  for (const headers of [signed(body), forged, forged, forged, forged, signed(body)])
    statuses.push((await post(app, '/events', body, headers)).status)
  t.same(statuses, [204, 401, 401, 429, 429, 429])
  t.equal(got.length, 1)
})

t.test('an error of the verifier other than a rejection is a 500', async (t) => {
  const { app, got } = await serve({
    verify: () => {
      throw new Error('broken')
    },
  })
  t.match(await post(app, '/events', body, signed(body)), { status: 500, message: /^(?!.*broken)/ })
  t.equal((await app.inject({ url: '/nothing/a', headers: signed('') })).statusCode, 500)
  t.same(got, [])
})

const startFailure = async (t: Test, content: object, message: string) => {
  const changed = structuredClone(document) as unknown as { paths: { '/events': { post: object } } }
  Object.assign(changed.paths['/events'].post, bodyOf(content))
  const handlers = Object.fromEntries(ids.map((id) => [id, () => {}]))
  const started = serveDocument(changed as unknown as Document, {
    handlers: handlers as never,
    verifiers: async (context) => {
      const verifier = await webhookSignature(webhookVerifier(secret))(context)
      return { signature: verifier, other: verifier, token: verifier }
    },
  })
  await t.rejects(started, { message })
}

t.test('the server does not start if a handler reads a signed body itself', async (t) => {
  for (const type of ['multipart/form-data', 'image/*', 'application/jsonl'])
    await startFailure(
      t,
      { [json]: {}, [type]: {} },
      'operation receive: security scheme signature verifies the body, which its handler reads itself; ' +
        'use only media types of JSON, text or URL-encoded forms',
    )
})

t.test('each request can have secrets of its own, which are looked up before its body is read', async (t) => {
  const tenants: Record<string, string> = { a: secret, b: other }
  const { paths } = document as unknown as { paths: Record<string, object> }
  const own = { ...document, paths: { '/nothing/{id}': paths['/nothing/{id}'] }, security: [{ signature: [] }] }
  const lookups: Record<string, (id: string) => string | undefined | Promise<string | undefined>> = {
    direct: (id) => tenants[id],
    later: async (id) => tenants[id],
  }
  for (const [name, lookUp] of Object.entries(lookups)) {
    const handle = async () => ({ status: 204, body: undefined })
    const app = await serveDocument(own as unknown as Document, {
      handlers: { nothing: handle, deleted: handle } as never,
      limits: { authFailures: 3 },
      verifiers: async (context) => {
        const verifier = webhookSignatureFor(({ params }) => {
          const { id } = params as { id: string }
          if (id === 'broken') throw new Error('broken')
          if (id === 'down') return Promise.reject()
          const found = lookUp(id)
          const verify = (one: string | undefined) => (one === undefined ? undefined : webhookVerifier(one))
          return found instanceof Promise ? found.then(verify) : verify(found)
        })
        return { signature: await verifier(context) }
      },
    })
    const statusOf = async (id: string, secrets: string[]) =>
      (await app.inject({ url: `/nothing/${id}`, headers: signed('', secrets) })).statusCode
    t.same([await statusOf('a', [secret]), await statusOf('b', [other])], [204, 204], name)
    t.equal(await statusOf('broken', [secret]), 500)
    t.equal(await statusOf('down', [secret]), 500)
    t.same([await statusOf('a', [other]), await statusOf('none', [secret])], [401, 401])
    t.equal(await statusOf('none', [secret]), 401)
    t.equal(await statusOf('none', [secret]), 429, 'an unknown sender counts as a failure')
  }
})
