import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { run } from 'fastify-contract-test-support/child-process'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import t, { type Test } from 'tap'
import { ownPath } from '../support/own-path.ts'

const module = resolve(ownPath('test/service/versions-service.ts'))
const ok = { 200: { description: 'ok', content: { 'application/json': { schema: {} } } } }
const documentOf = (version: string, scope: string, more: object = {}) => ({
  openapi: '3.1.0',
  info: { title: 'Pets <&>', version },
  security: [{ token: [scope] }],
  paths: {
    '/pets': { get: { operationId: 'listPets', responses: ok } },
    '/wait': { get: { operationId: 'wait', security: [], responses: ok } },
    '/fails': { get: { operationId: 'fail', security: [], responses: ok } },
  },
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  ...more,
})
const first = documentOf('1.4.0', 'read', { servers: [{ url: 'https://pets.example/v1' }] })
const second = documentOf('2.0.0', 'pets:read')
const DOCUMENTS = JSON.stringify({ '/v1': first, '/v2': second })

/** Starts a service of both versions, and returns it with its URL and that of the admin server. */
async function start(t: Test, environment: Record<string, string> = {}, cwd = '.') {
  const service = run(t, module, { DOCUMENTS, ...environment }, [], cwd)
  const [, url = '', admin = ''] = await service.find(
    'stderr',
    /^pets \/v1 1\.4\.0, \/v2 2\.0\.0 on (\S+), operations: 6, admin server on (\S+)\n/,
  )
  return { ...service, url, admin }
}

t.test(
  'a service of two documents has one start line, one token for all operations, and an example of each',
  async (t) => {
    const service = await start(t)
    const [, token, ...curls] = await service.find(
      'stderr',
      /using the generated token (\S+)\n(curl '\S+\/v1\/pets' -H 'A: \1')\n(curl '\S+\/v2\/pets')\n$/,
    )
    t.same(curls, [`curl '${service.url}/v1/pets' -H 'A: ${token}'`, `curl '${service.url}/v2/pets'`])
    for (const prefix of ['/v1', '/v2']) {
      const response = await httpRequest(`${service.url}${prefix}/pets`, {
        headers: { authorization: `Bearer ${token}` },
      })
      t.match(response, { status: 200, body: `"${prefix}"` }, 'the token has the scopes of both')
      t.match(await httpRequest(`${service.url}${prefix}/pets`), { status: 401, body: `"of":"${prefix}"` })
    }
    t.match(await service.stop(), { code: 0 })
  },
)

t.test('the metrics and the log of a service of two documents have a label and a field for the API', async (t) => {
  const service = await start(t, { CURL: 'no', LOG_FORMAT: 'json' })
  for (const path of ['/v1/pets', '/v2/fails', '/v2/none', '/none']) await httpRequest(service.url + path)
  const { body: metrics } = await httpRequest(`${service.admin}/metrics`)
  const count = 'http_server_request_duration_seconds_count'
  for (const line of [
    `${count}{api="/v1",operation="listPets",method="GET",status="401"} 1`,
    `${count}{api="/v2",operation="fail",method="GET",status="500"} 1`,
    `${count}{api="/v2",operation="none",method="_OTHER",status="404"} 1`,
    `${count}{api="none",operation="none",method="_OTHER",status="404"} 1`,
    'pets_requests_refused_total{api="/v1",reason="missingToken"} 1',
    'pets_requests_refused_total{api="/v2",reason="noSuchPath"} 1',
    'pets_requests_refused_total{api="none",reason="noSuchPath"} 1',
    `pets_build_info{api="/v1",version="1.4.0",node_version="${process.versions.node}"} 1`,
    `pets_build_info{api="/v2",version="2.0.0",node_version="${process.versions.node}"} 1`,
    'http_server_active_requests 0',
    'pets_ready 1',
  ])
    t.ok(metrics.includes(`\n${line}\n`), line)
  const { stdout, stderr } = await service.stop()
  t.notMatch(stderr, /curl/)
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.match(
    lines.filter(({ msg }) => msg === 'request').map(({ api, operation, status }) => [api, operation, status]),
    [
      ['/v1', 'listPets', 401],
      ['/v2', 'fail', 500],
      ['/v2', undefined, 404],
      [undefined, undefined, 404],
    ],
  )
  t.match(
    lines.find(({ msg }) => msg === 'request failed'),
    { api: '/v2', err: { message: 'failed' } },
  )
})

t.test('one document below a prefix has neither, and its start line has its prefix', async (t) => {
  const service = run(t, module, { DOCUMENTS: JSON.stringify({ '/v1': first }), CURL: 'no', LOG_FORMAT: 'json' })
  const [, url, admin] = await service.find(
    'stderr',
    /^pets \/v1 1\.4\.0 on (\S+), operations: 3, admin server on (\S+)\n/,
  )
  await httpRequest(`${url}/v1/pets`)
  t.notMatch((await httpRequest(`${admin}/metrics`)).body, /api=/)
  t.match((await httpRequest(`${admin}/docs`)).body, /href="\.\/v1\/docs"/)
  t.notMatch((await service.stop()).stdout, /"api"/)
})

t.test('one admin server has the pages of each document, and a page that links them', async (t) => {
  const directory = t.testdir({})
  const pages = (at: string, name: string) => {
    mkdirSync(at, { recursive: true })
    writeFileSync(join(at, 'index.html'), `${name} <!-- try.html -->`)
    writeFileSync(join(at, 'history.html'), `history of ${name}`)
    writeFileSync(join(at, 'try.html'), 'connect-src SERVICE_URL; data-service="SERVICE_URL"')
  }
  pages(join(directory, 'first'), 'first')
  pages(join(directory, 'dist', 'docs', 'v2'), 'second')
  const { url, admin, stop } = await start(t, { DOCS: join('first', 'index.html') }, directory)
  const page = async (path: string) => await httpRequest(admin + path)
  t.match(await page('/readyz'), { status: 200, body: 'ready\n' })
  t.match(await page('/livez'), { status: 200 })
  const index = await page('/docs')
  t.match(index.headers, { 'content-type': /^text\/html/, 'content-security-policy': /default-src 'none'/ })
  t.match(index.body, '<li><a href="./v1/docs">/v1</a> Pets &#60;&#38;&#62; 1.4.0</li><li><a href="./v2/docs">/v2</a>')
  t.match(
    (await page('/')).body,
    /^\/livez +whether.*\n.*\n.*\n\/docs +.*each API\n\nPets <&> 1\.4\.0\n\n\/v1\/docs +the doc.*\n.*\n.*\n\/v1\/openapi\.json .*\n\nPets <&> 2\.0\.0\n\n\/v2\/docs /,
  )
  t.equal((await page('/v1/docs')).body, `first <a href="try.html" data-service="${url}">Try an operation</a>`)
  t.equal((await page('/v2/docs')).body, `second <a href="try.html" data-service="${url}/v2">Try an operation</a>`)
  t.equal((await page('/v1/index.html')).body, (await page('/v1/docs')).body)
  t.equal((await page('/v2/history.html')).body, 'history of second')
  t.equal((await page('/v1/try.html')).body, `connect-src ${url}; data-service="${url}"`)
  t.equal((await page('/v2/try.html')).body, `connect-src ${url}; data-service="${url}/v2"`)
  t.same(JSON.parse((await page('/v1/openapi.json')).body), first)
  t.same(JSON.parse((await page('/v2/openapi.json')).body), second)
  for (const path of ['/openapi.json', '/try.html', '/v1', '/v3/docs']) t.equal((await page(path)).status, 404, path)
  await stop()
})

t.test('one signal drains both documents: requests in flight get their responses, and /readyz is 503', async (t) => {
  const service = await start(t, { DRAIN_TIME: '200' })
  const waiting = ['/v1', '/v2'].map((prefix) => httpRequest(`${service.url}${prefix}/wait`))
  await service.find('stdout', /waiting \/v1/)
  await service.find('stdout', /waiting \/v2/)
  service.signal('SIGTERM')
  await service.find('stdout', /draining/)
  t.match(await httpRequest(`${service.admin}/readyz`), { status: 503, body: 'draining\n' })
  const headers = { authorization: 'Bearer none' }
  t.match(await httpRequest(`${service.url}/v2/pets`, { headers }), { status: 401, headers: { connection: 'close' } })
  for (const [index, response] of (await Promise.all(waiting)).entries())
    t.match(response, { status: 200, body: `"/v${index + 1}"` })
  t.match(await service.untilEnded(), { code: 0 })
})

t.test('a wrong prefix stops the start with one line', async (t) => {
  for (const [prefixes, message] of [
    [
      ['/v1', '/v1/beta'],
      'pets: contracts: the prefix "/v1" contains "/v1/beta"; use prefixes that do not contain others\n',
    ],
    [['v1'], /^pets: contracts: "v1" is not a prefix of paths; use [^\n]*\n$/],
    [[], /^pets: contracts has no entry; add one[^\n]*\n$/],
  ] as const) {
    const documents = Object.fromEntries(prefixes.map((prefix) => [prefix, first]))
    const { code, stderr } = await run(t, module, { DOCUMENTS: JSON.stringify(documents) }).untilEnded()
    t.equal(code, 1)
    t.match(stderr, message)
  }
})

t.test(
  'a server with other prefixes than the service, or with swapped contracts, stops the start with one line',
  async (t) => {
    for (const [environment, message] of [
      [
        { SERVED: '{"/v1":"/v1","/v3":"/v2"}' },
        'the server has the prefixes /v1, /v3, but `contracts` of runService has /v1, /v2; write the same in both',
      ],
      [
        { SERVED: '{"/v1":"/v1"}' },
        'the server has the prefixes /v1, but `contracts` of runService has /v1, /v2; write the same in both',
      ],
      [
        { SERVED: '{"/v1":"/v2","/v2":"/v2"}' },
        'the server has the contract of /v2 below /v1; use the contract of /v1 there',
      ],
      [{ SINGLE: 'yes' }, 'the server has the prefixes /v1, /v2; write them in `contracts` of runService, too'],
      [
        { SERVED: '{"/v1":"/v1","/v2":"/v3"}' },
        'contracts: "/v2" has no contract; add the export of its generated contract.mjs',
      ],
    ] as const) {
      const { code, stderr } = await run(t, module, { DOCUMENTS, CURL: 'no', ...environment }).untilEnded()
      t.equal(code, 1)
      t.equal(stderr, `pets: ${message}\n`)
    }
    const otherOrder = run(t, module, { DOCUMENTS, CURL: 'no', COPY: 'yes', SERVED: '{"/v2":"/v2","/v1":"/v1"}' })
    await otherOrder.find('stderr', /^pets \/v1 1\.4\.0, \/v2 2\.0\.0 on /)
    await otherOrder.stop()
  },
)
