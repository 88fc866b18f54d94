import type { ServerResponse } from 'node:http'
import { resolve } from 'node:path'
import { compileDocument } from 'fastify-contract-cli/compile'
import type { Document } from 'fastify-contract-cli/testing'
import { diagnose as diagnoseModules } from 'fastify-contract-test-support/compiler'
import t from 'tap'
import { callbackUrl } from '../../src/contract/runtime-expression.ts'
import {
  type SenderOptions,
  WebhookError,
  type WebhookTable,
  webhookSender,
} from '../../src/webhooks/webhook-sender.ts'
import { ownPath } from '../support/own-path.ts'
import { type Received, receiver } from '../support/webhook-receiver.ts'

const sources = resolve(ownPath('src'))

const text = { type: 'string' }
const int64 = { type: 'integer', format: 'int64' }
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const receipt = { type: 'object', required: ['id'], properties: { id: int64 } }
const event = {
  type: 'object',
  required: ['id', 'kind'],
  properties: { id: int64, kind: { enum: ['added', 'removed'] }, secret: { ...text, writeOnly: true } },
}

const document = {
  openapi: '3.1.0',
  info: { title: 'Events', version: '1.0.0' },
  webhooks: {
    added: {
      post: {
        parameters: [
          { name: 'X-Event', in: 'header', required: true, schema: { ...text, minLength: 1 } },
          { name: 'ids', in: 'query', style: 'pipeDelimited', explode: false, schema: { type: 'array', items: int64 } },
        ],
        requestBody: { required: true, ...json(event) },
        responses: {
          200: { description: 'Stored.', ...json(receipt) },
          204: { description: 'Heard.' },
          '4XX': { description: 'Refused.', content: { 'text/plain': {} } },
        },
      },
    },
    form: {
      put: {
        requestBody: {
          content: {
            'application/x-www-form-urlencoded': {
              schema: {
                type: 'object',
                required: ['id'],
                properties: { id: int64, tags: { type: 'array', items: text } },
              },
              encoding: { tags: { style: 'pipeDelimited', explode: false } },
            },
            'multipart/form-data': { schema: { type: 'object', properties: { file: { ...text, format: 'binary' } } } },
            'image/*': {},
          },
        },
        responses: { default: { description: 'Any.', content: { 'application/*': {} } } },
      },
    },
    asked: { get: { responses: { 204: { description: 'Heard.' } } } },
  },
  paths: {
    '/subscriptions': {
      post: {
        operationId: 'subscribe',
        requestBody: { required: true, ...json({ type: 'object', required: ['url'], properties: { url: text } }) },
        responses: { 204: { description: 'Subscribed.' } },
        callbacks: {
          changed: {
            '{$request.body#/url}': {
              post: { requestBody: { required: true, ...json(event) }, responses: { 204: { description: 'Heard.' } } },
            },
          },
        },
      },
    },
  },
} as unknown as Document

const { files, warnings } = await compileDocument(document, 'events.yaml')
const table: WebhookTable = JSON.parse(files['webhooks.json'] as string)

type Sender = Record<string, (name: string, options: object) => Promise<{ status: number; data?: unknown }>> & {
  callbackUrl(name: string, context: object): string
}
const senderOf = (options?: SenderOptions): Sender => webhookSender(table, options) as never

const header = { 'X-Event': 'added' }
const added = { params: { header }, body: { id: 9_007_199_254_740_993n, kind: 'added' } }

const withJson = (body: string) => (response: ServerResponse) =>
  response.setHeader('content-type', 'application/json').end(body)

t.test('a webhook is sent as the document says, and its response is exact', async (t) => {
  const { received, url } = await receiver(t, withJson('{"id":9007199254740993}'))
  const body = { ...added.body, secret: 'hidden', unlisted: 1 }
  const params = { header, query: { ids: [1n, 9_007_199_254_740_993n] } }
  const { status, data } = await (senderOf().POST as Sender[string])('added', { url: `${url}?key=a`, body, params })
  t.same([status, data], [200, { id: 9_007_199_254_740_993n }])
  const [{ method, url: target, headers, body: sent } = {} as Received] = received
  t.same([method, target], ['POST', '/hook?key=a&ids=1%7C9007199254740993'])
  t.match(headers, { 'x-event': 'added', 'content-type': 'application/json' })
  t.equal(sent, '{"id":9007199254740993,"kind":"added"}', 'neither writeOnly nor undescribed properties are sent')
})

t.test('a request that does not match the document is not sent', async (t) => {
  const { received, url } = await receiver(t, (response) => response.end())
  const wrong: [method: string, name: string, options: object, problem: RegExp][] = [
    ['POST', 'added', { params: { header }, body: { id: 1n, kind: 'moved' } }, /^POST added: body\/kind must be equal/],
    ['POST', 'added', { params: { header }, body: { id: 1.5, kind: 'added' } }, /^POST added: body\/id must be/],
    ['POST', 'added', { params: { header } }, /^POST added: needs a body of application\/json$/],
    ['POST', 'added', { body: added.body }, /^POST added: header must have required property 'X-Event'/],
    ['POST', 'added', { ...added, params: { header, query: { ids: ['a'] } } }, /^POST added: query\/ids\/0 must be/],
    ['POST', 'added', { ...added, contentType: 'text/csv' }, /needs a body of application\/json/],
    ['PUT', 'form', { body: { id: 'a' }, contentType: 'application/x-www-form-urlencoded' }, /body\/id must be/],
    ['GET', 'asked', { body: 'a' }, /^GET asked: has no body$/],
    ['PUT', 'added', added, /^the document has no webhook or callback PUT added$/],
    ['POST', 'added', { ...added, url: 'file:///etc/passwd' }, /is not an http or https URL/],
  ]
  for (const [method, name, options, message] of wrong) {
    const call = senderOf()[method] as Sender[string]
    await t.rejects(call(name, { url, ...options }), { name: 'TypeError', message })
  }
  t.same(received, [])
})

t.test('forms, parts and bytes are sent as their media type says', async (t) => {
  const { received, url } = await receiver(t, withJson('{"a":1}'))
  const put = senderOf().PUT as Sender[string]
  await put('form', { url, contentType: 'application/x-www-form-urlencoded', body: { id: 1n, tags: ['a', 'b'] } })
  await put('form', { url, contentType: 'multipart/form-data', body: { file: new Blob(['bytes']) } })
  const { data } = await put('form', { url, contentType: 'image/png', body: new Uint8Array([104, 105]) })
  await put('form', { url })
  t.equal(received[0]?.body, 'id=1&tags=a%7Cb')
  t.match(received[1]?.body, /name="file"; filename="blob"[\s\S]*bytes/)
  t.match([received[2]?.body, received[2]?.headers['content-type']], ['hi', 'image/png'])
  t.equal(received[3]?.body, '', 'an optional body may be left out')
  t.equal(data, '{"a":1}', 'the body of a media type range is text')
})

t.test('a status outside 2xx that the document lists is an error value', async (t) => {
  const { url } = await receiver(t, (response) =>
    response.writeHead(410, { 'content-type': 'text/plain; charset=utf-8' }).end('gone'),
  )
  t.match(await (senderOf().POST as Sender[string])('added', { url, ...added }), { status: 410, error: 'gone' })
})

t.test('a response without content in the document has no data, whatever is sent', async (t) => {
  const { url } = await receiver(t, (response) => response.writeHead(204).end())
  t.match(await (senderOf().POST as Sender[string])('added', { url, ...added }), { status: 204, data: undefined })
})

t.test('a response that does not match the document rejects with its kind', async (t) => {
  const type = 'application/json'
  const kinds: [kind: string, message: RegExp, respond: (response: ServerResponse) => void][] = [
    ['unexpectedStatus', /no response 302/, (response) => response.writeHead(302, { location: '/other' }).end()],
    [
      'invalidResponse',
      /media type is text\/html, not/,
      (response) => response.setHeader('content-type', 'text/html').end(),
    ],
    ['invalidResponse', /media type is missing/, (response) => response.end('{"id":1}')],
    ['invalidResponse', /response\/id must be/, withJson('{"id":"1"}')],
    ['invalidResponse', /response 200: /, withJson('{')],
    [
      'invalidResponse',
      /response 200: /,
      (response) => response.setHeader('content-type', type).end(Buffer.from([0xff])),
    ],
    ['responseTooLarge', /more than 100 bytes/, withJson(JSON.stringify({ id: 1, more: 'a'.repeat(100) }))],
    ['unreachable', /no response from 127/, (response) => response.destroy()],
    ['timeout', /no response after 200 ms/, () => {}],
    ['timeout', /no response after 200 ms/, (response) => response.setHeader('content-type', type).write('{')],
  ]
  for (const [kind, message, respond] of kinds) {
    const { received, url } = await receiver(t, respond)
    const call = senderOf({ timeout: kind === 'timeout' ? 200 : 5_000, maxResponse: 100 }).POST as Sender[string]
    await t.rejects(call('added', { url, ...added }), { name: 'WebhookError', kind, message })
    t.equal(received.length, 1, 'a redirect is not followed, and nothing is retried')
  }
  t.equal(new WebhookError('timeout', 'late').status, undefined)
})

t.test('the signal of the caller aborts the request with its reason', async (t) => {
  const { url } = await receiver(t, () => {})
  const signal = AbortSignal.timeout(50)
  await t.rejects((senderOf().POST as Sender[string])('added', { url, ...added, signal }), { name: 'TimeoutError' })
})

t.test('a request can be signed before it is sent, and no header of the caller is lost', async (t) => {
  const { received, url } = await receiver(t, (response) => response.writeHead(204).end())
  const fetch = async (request: Request) => {
    request.headers.set('x-signature', String((await request.clone().text()).length))
    return await globalThis.fetch(request)
  }
  await (senderOf({ fetch }).POST as Sender[string])('added', { url, ...added, headers: { 'x-own': 'a' } })
  t.match(received[0]?.headers, { 'x-signature': '38', 'x-own': 'a' })
})

t.test('a callback goes to the URL that the messages of its operation name', async (t) => {
  const { received, url } = await receiver(t, (response) => response.writeHead(204).end())
  const sender = senderOf()
  const target = sender.callbackUrl('subscribe changed', { request: { body: { url } } })
  t.equal(target, url)
  await (sender.POST as Sender[string])('subscribe changed', { url: target, body: added.body })
  t.equal(received.length, 1)
  await (sender.POST as Sender[string])('added', { url, ...added, params: { header, query: { ids: [1n] } } })
  t.equal(received[1]?.url, '/hook?ids=1')
  t.throws(() => sender.callbackUrl('added', {}), { message: 'the document has no callback added' })
})

t.test('the types of a sender are those of the document', async (t) => {
  const check = (body: string) =>
    diagnoseModules(['src/check.ts'], {
      'src/api.ts': files['api.d.ts'] as string,
      'src/check.ts': `import { webhookSender, type WebhookTable } from '${sources}/webhooks/webhook-sender.ts'
import type { webhooks } from './api.ts'
declare const table: WebhookTable
const sender = webhookSender<webhooks>(table)
const url = 'https://a.example'
${body}`,
    })
  const right = `const sent = await sender.POST('added', { url, params: { header: { 'X-Event': 'a' } }, body: { id: 1n, kind: 'added' } })
if (sent.status === 200) sent.data.id satisfies bigint
else if (sent.status !== 204) sent.error satisfies unknown
await sender.POST('subscribe changed', { url: sender.callbackUrl('subscribe changed', {}), body: { id: 1n, kind: 'removed' } })
await sender.PUT('form', { url })
`
  t.same(check(right), [])
  const wrong = [
    `await sender.POST('removed', { url })`,
    `await sender.POST('form', { url })`,
    `await sender.POST('added', { url, body: { id: 1n, kind: 'added' } })`,
    `await sender.POST('added', { url, params: { header: { 'X-Event': 'a' } }, body: { id: 1, kind: 'added' } })`,
    `await sender.PUT('form', {})`,
  ]
  const found = check(wrong.join('\n'))
  for (const [index, line] of wrong.entries())
    t.ok(
      found.some((diagnostic) => diagnostic.startsWith(`src/check.ts:${6 + index} `)),
      line,
    )
})

t.test('a document without webhooks has no table, and an invalid expression is a warning', async (t) => {
  t.same(warnings, [])
  const { webhooks: _, ...rest } = document as Document & { webhooks?: object }
  const { paths: __, ...alone } = structuredClone(rest)
  t.equal((await compileDocument({ ...alone, paths: {} }, 'a.yaml')).files['webhooks.json'], undefined)
  const wrong = JSON.parse(JSON.stringify(rest).replace('{$request.body#/url}', '{$request.body.url}'))
  const compiled = await compileDocument(wrong, 'a.yaml')
  t.match(compiled.warnings, [/^#\/paths\/~1subscriptions\/post\/callbacks\/changed\/.*is not a runtime expression/])
  const sender = webhookSender(JSON.parse(compiled.files['webhooks.json'] as string))
  t.throws(() => sender.callbackUrl('subscribe changed' as never, {}), TypeError)
})

const context = {
  url: 'https://api.example/subscriptions?x=1',
  method: 'POST',
  request: {
    path: { id: 7n },
    query: { url: 'https://client.example/query' },
    header: { 'x-callback': 'https://client.example/header' },
    body: { url: 'https://client.example/body', 'a/b': [{ '~': 'https://client.example/pointer' }], mail: 'a&b@c' },
  },
  response: { status: 201, headers: { Location: 'https://client.example/location' }, body: { id: 'x/y' } },
}

t.test('a runtime expression takes a value from the messages of the operation', async (t) => {
  const urls: Record<string, string> = {
    '$request.body#/url': 'https://client.example/body',
    '{$request.body#/url}': 'https://client.example/body',
    '{$request.body#/url}/end': 'https://client.example/body/end',
    '{$request.body#/a~1b/0/~0}': 'https://client.example/pointer',
    '{$request.query.url}?a=b': 'https://client.example/query?a=b',
    '$request.header.X-Callback': 'https://client.example/header',
    '$response.header.location': 'https://client.example/location',
    'https://a.example/{$request.path.id}/{$response.body#/id}': 'https://a.example/7/x%2Fy',
    'https://a.example?mail={$request.body#/mail}&by={$method}': 'https://a.example?mail=a%26b%40c&by=POST',
    'https://a.example/{$statusCode}': 'https://a.example/201',
    '{$url}': context.url,
    'https://a.example/fixed': 'https://a.example/fixed',
  }
  for (const [key, url] of Object.entries(urls)) t.equal(callbackUrl(key)(context), url, key)
})

t.test('a value that is missing or not a single one throws', async (t) => {
  const keys = [
    '$request.body#/missing',
    '$request.body#/a~1b',
    '$request.body',
    '$request.body#/constructor',
    '$request.query.constructor',
    '$request.header.missing',
    '$response.header.missing',
  ]
  for (const key of keys) t.throws(() => callbackUrl(key)(context), TypeError, key)
  for (const key of ['$url', '$statusCode', '$request.body#/a', '$response.header.a', '$request.path.a'])
    t.throws(() => callbackUrl(key)({}), { message: / is missing, or is not a string/ }, key)
})

t.test('a URL that is not http or https throws', async (t) => {
  for (const url of ['file:///etc/passwd', '/relative', 'javascript:1', ''])
    t.throws(() => callbackUrl('$request.body#/url')({ request: { body: { url } } }), {
      message: `${JSON.stringify(url)} is not an http or https URL`,
    })
})

t.test('a value from a client cannot change the path or hide a part of the URL', async (t) => {
  const of = (key: string, values: object) => () => callbackUrl(key)({ request: { body: values } })
  const [a, b] = ['{$request.body#/a}', '{$request.body#/b}']
  const [dot, lone] = [/a path segment cannot be "\." or "\.\."$/, /: a value contains a lone surrogate$/]
  const sign = /: a URL cannot contain white space, control characters or backslashes$/
  const refused: [key: string, values: object, message: RegExp][] = [
    ...['.', '..'].map((value): (typeof refused)[0] => [`https://a.example/x/${a}`, { a: value }, dot]),
    [`https://a.example/x/${a}/y`, { a: '..' }, dot],
    [`https://a.example/x/${a}?z`, { a: '..' }, dot],
    [`https://a.example/x/${a}#z`, { a: '..' }, dot],
    [`https://a.example/x/${a}${b}`, { a: '.', b: '.' }, dot],
    [`https://a.example/x/.${a}`, { a: '.' }, dot],
    [`${a}/${b}`, { a: 'https://a.example', b: '..' }, dot],
    [`${a}${b}`, { a: 'https://a.example/.', b: '.' }, dot],
    [`https://a.example/${a}`, { a: '\ud800' }, lone],
    [`https://a.example/${a}`, { a: 'x\udfff' }, lone],
    [a, { a: 'https://a.example/\ud800' }, lone],
    ...[
      'https://a.example\\@b.example/',
      'https://a.exa\nmple/',
      ' https://a.example/',
      'https://a.example/\u0085',
    ].map((value): (typeof refused)[0] => [a, { a: value }, sign]),
    ...['a.example/', 'b@c', 'b:80', 'b?', 'b#', 'b\\', '\n', ' '].map((value): (typeof refused)[0] => [
      `https://${a}.example/`,
      { a: value },
      /is not an http or https URL$/,
    ]),
  ]
  for (const [key, values, message] of refused)
    t.throws(of(key, values), { name: 'TypeError', message }, `${key} ${JSON.stringify(values)}`)
  const kept: [key: string, values: object, url: string][] = [
    [`https://a.example/${a}`, { a: '...' }, 'https://a.example/...'],
    [`https://a.example/${a}`, { a: '/../\\?#\n' }, 'https://a.example/%2F..%2F%5C%3F%23%0A'],
    [`https://a.example/?to=/../&at=${a}`, { a: '..' }, 'https://a.example/?to=/../&at=..'],
    [`${a}/end`, { a: 'https://a.example/x/../y' }, 'https://a.example/x/../y/end'],
    [a, { a: 'https://a.example/x/..' }, 'https://a.example/x/..'],
    [`https://${a}.example/`, { a: 'b.c' }, 'https://b.c.example/'],
  ]
  for (const [key, values, url] of kept) t.equal(of(key, values)(), url)
})

t.test('other expressions are invalid', async (t) => {
  for (const key of ['$request.cookie.a', '$response.query.a', '$request.body.url', '$request.header.', '{$}', '$'])
    t.throws(() => callbackUrl(key), { message: /is not a runtime expression; use one such as/ }, key)
})
