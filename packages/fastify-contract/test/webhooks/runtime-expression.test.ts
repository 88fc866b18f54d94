import t from 'tap'
import { callbackUrl } from '../../src/webhooks/runtime-expression.ts'

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
  for (const key of ['$url', '$statusCode', '$request.body#/a', '$response.header.a', '$request.path.a']) {
    t.throws(() => callbackUrl(key)({}), { message: /the messages have no such value/ }, key)
  }
})

t.test('a URL that is not http or https throws', async (t) => {
  for (const url of ['file:///etc/passwd', '/relative', 'javascript:1', '']) {
    t.throws(() => callbackUrl('$request.body#/url')({ request: { body: { url } } }), {
      message: `${JSON.stringify(url)} is not an http or https URL`,
    })
  }
})

t.test('other expressions are invalid', async (t) => {
  for (const key of ['$request.cookie.a', '$response.query.a', '$request.body.url', '$request.header.', '{$}', '$']) {
    t.throws(() => callbackUrl(key), { message: /is not a runtime expression; use one such as/ }, key)
  }
})
