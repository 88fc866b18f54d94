import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { writeDocs, writeTryPage } from '../../packages/fastify-contract-cli/src/docs/docs-page.ts'
import { tryPage } from '../../packages/fastify-contract-cli/src/docs/try-page.ts'
import { compileDocument } from '../../packages/fastify-contract-cli/src/emit/compile.ts'
import { openMemory } from '../../src/store/memory.ts'
import type { PlantStore } from '../../src/store/plant-store.ts'
import { open } from '../support/browser.ts'
import { chromium } from '../support/chromium.ts'
import { serveDocs } from '../support/serve-docs.ts'
import { createTestApp, token } from '../support/test-app.ts'
import { inBrowser, inPage, violations } from './accessibility.ts'

const largest = '{ "id": 9223372036854775807,  "name": "Mönstera" }'

/**
 * Opens a document's page next to a service. Returns the page, its origin, and a function that fills in and submits a
 * form.
 */
async function openForms(t: Test, document: string, serviceUrl: string, { width = 1280, dark = false } = {}) {
  const directory = t.testdir({ 'openapi.json': document })
  await writeTryPage(directory, { generated: directory })
  const docs = await serveDocs(t, join(directory, 'index.html'), serviceUrl)
  const page = await open(t, chromium, new URL('try.html', docs).href, width, { dark, height: 1400 })
  await page.evaluate(inPage)
  await page.evaluate(`found(() => document.readyState === 'complete' && document.querySelector('form'))`)
  /** Sets fields by label and submits the form of an operation, by default the first. Returns the shown response. */
  const send = async (values: Record<string, string> = {}, operation = '') =>
    await page.evaluate(`(async () => {
      const form = await found(() => all('details form').find((form) => form.closest('details').innerText.startsWith(${JSON.stringify(operation)})))
      form.closest('details').open = true
      for (const [label, value] of Object.entries(${JSON.stringify(values)})) {
        const fields = [...all('input'), ...all('textarea'), ...all('select')].filter((field) => field.matches('[data-credential]') || field.form === form)
        fields.find(({ labels }) => labels[0].innerText.split(' ')[0] === label).value = value
      }
      form.querySelector('output').innerText = ''
      form.querySelector('button').click()
      const status = await found(() => /^(?!Sending).+/s.exec(form.querySelector('output').innerText)?.[0])
      const [headers, body] = [...form.querySelectorAll('pre')].map((shown) => shown.textContent)
      return { status, headers, body }
    })()`)
  return { ...page, send, origin: new URL(docs).origin }
}

/** Starts the plant store with its page. Returns the page and the ids of the created plants. */
async function openPlants(t: Test, size: Parameters<typeof openForms>[3] = {}) {
  const memory = openMemory()
  const ids: bigint[] = []
  const create: PlantStore['create'] = (plant) => {
    ids.push(plant.id)
    return memory.create(plant)
  }
  const origins: string[] = []
  const { listen } = await createTestApp(t, { store: { ...memory, create }, ownOrigins: () => origins })
  const url = `http://127.0.0.1:${await listen()}`
  const page = await openForms(t, readFileSync('generated/openapi.json', 'utf8'), url, size)
  origins.push(page.origin)
  return { page, ids, url }
}

for (const [width, dark] of [
  [1280, false],
  [400, true],
] as const) {
  const name = `${width} pixels wide, ${dark ? 'dark' : 'light'}`
  t.test(`a plant with the largest id is created, and axe finds nothing, ${name}`, inBrowser, async (t) => {
    const { page, ids, url } = await openPlants(t, { width, dark })
    t.same(await violations(page), [], 'the page before a request')
    t.match(await page.send(), {
      status: /^401 Unauthorized, \d+ ms: the access token is missing$/,
      headers: /^www-authenticate: .*Bearer/m,
    })
    const created = await page.send({ bearer: token, Body: largest })
    t.match(created, { status: /^200 OK, \d+ ms$/, body: '{\n  "name": "Mönstera"\n}' })
    t.match(created.headers, /^content-type: application\/json/m)
    t.match(await page.send({ Body: '{' }), { status: /^400 / })
    t.same(await violations(page), [], 'the page with a response')
    t.equal(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'), 0)
    t.same([...page.refused, ...page.faults], [])
    const isKnown = (one: string) => one.startsWith('data:') || [page.origin, url].includes(new URL(one).origin)
    t.same(
      page.requests.filter((one) => !isKnown(one)),
      [],
      'the page sends requests to the service only',
    )
    t.same(ids, [2n ** 63n - 1n])
  })
}

t.test('Enter submits, and a value that a browser cannot send is named', inBrowser, async (t) => {
  const { page, ids } = await openPlants(t)
  const press = async (selector: string, value: string, init?: object) => {
    await page.evaluate(`
      document.querySelector('details').open = true
      document.querySelector('details output').innerText = ''
      document.querySelector('${selector}').value = ${JSON.stringify(value)}
      document.querySelector('${selector}').focus()`)
    if (init === undefined) await page.pressEnter()
    else
      await page.evaluate(
        `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', ${JSON.stringify({ key: 'Enter', bubbles: true, ...init })}))`,
      )
    return await page.evaluate(
      `found(() => /^(?!Sending).+/s.exec(document.querySelector('details output').innerText)?.[0])`,
    )
  }
  t.match(
    await press('[data-credential]', '€'),
    /^Not sent: Authorization has a character that a header cannot contain; /,
  )
  t.match(await press('[data-credential]', 'wrong'), /^401 Unauthorized, \d+ ms: the access token is not valid$/)
  t.match(await press('[data-credential]', token), /^200 OK, \d+ ms$/)
  t.match(await press('[data-body]', '{"id":2}', { ctrlKey: true }), /^400 Bad Request, \d+ ms: body must have .*name/)
  t.match(await press('[data-body]', largest, { ctrlKey: true }), /^200 OK, \d+ ms$/)
  t.same(ids, [1n, 2n ** 63n - 1n])
})

t.test('the docs page shows the form of an operation in a panel, which keeps the token', inBrowser, async (t) => {
  const origins: string[] = []
  const { listen } = await createTestApp(t, { ownOrigins: () => origins })
  const directory = t.testdir({ 'openapi.json': readFileSync('generated/openapi.json') })
  await writeTryPage(directory, { generated: directory })
  const url = `http://127.0.0.1:${await listen()}`
  const docs = await serveDocs(t, await writeDocs(directory), url)
  origins.push(new URL(docs).origin)
  const page = await open(t, chromium, docs, 1280, { height: 1400 })
  await page.evaluate(inPage)
  await page.evaluate(
    `found(() => document.querySelector('.menu-content')).then(() => go(/^#\\/plants$/)).then(() => go(/createplant$/))`,
  )
  t.same(
    page.requests.filter((one) => !one.startsWith('data:')),
    [docs],
    'nothing is requested before',
  )
  const send = (token: string) =>
    page.evaluate(`(async () => {
      const link = await found(() => document.querySelector('.try'))
      link.click()
      const frame = document.querySelector('.try-panel iframe')
      const form = await found(() => frame.contentDocument?.querySelector('details[open] form'))
      const output = form.querySelector('output')
      output.innerText = ''
      if (${JSON.stringify(token)} !== '') frame.contentDocument.querySelector('[data-credential]').value = ${JSON.stringify(token)}
      form.querySelector('button').click()
      const status = await found(() => /^(?!Sending).+/s.exec(output.innerText)?.[0])
      frame.contentWindow.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))
      return [link.getAttribute('href'), status, frame.parentElement.hidden, document.activeElement === link]
    })()`)
  t.match(await send(token), ['try.html#POST/plants', /^200 OK/, true, true])
  t.match(await send(''), ['try.html#POST/plants', /^200 OK/, true, true], 'the token is entered once')
  await page.evaluate(`document.querySelector('.try').click()`)
  t.same(await violations(page), [])
  t.same([...page.refused, ...page.faults], [])
})

t.test('errors for which the service closes the connection are shown', inBrowser, async (t) => {
  const { page, ids } = await openPlants(t)
  const error = (status: string, body: RegExp) => ({ status: new RegExp(`^${status}, \\d+ ms(: .+)?$`), body })
  for (const size of [300_000, 2_000_000]) {
    const Body = `{"id":1,"name":"${'x'.repeat(size)}"}`
    t.match(
      await page.send({ bearer: '', Body }),
      error('401 Unauthorized', /^\{\n {2}"error": 401\d\d,\n {2}"message": "/),
      `${size}`,
    )
    t.match(
      await page.send({ bearer: token }),
      error('413 Payload Too Large', /^\{\n {2}"error": 413\d\d,\n {2}"message": "/),
      `${size}`,
    )
  }
  await page.evaluate(`document.querySelector('select').add(new Option('text/plain'))`)
  t.match(
    await page.send({ 'Content-Type': 'text/plain', Body: largest }),
    error('415 Unsupported Media Type', /^\{\n {2}"error": 415\d\d,\n {2}"message": "/),
  )
  t.same(ids, [])

  // A server that closes without reading the body.
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (data) => {
      const isPreflight = String(data).startsWith('OPTIONS')
      const cors = 'Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: *, authorization\r\n'
      const status = isPreflight ? '204 No Content' : '413 Payload Too Large\r\nContent-Length: 2'
      socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n${cors}\r\n${isPreflight ? '' : 'no'}`)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const document = readFileSync('generated/openapi.json', 'utf8')
  const early = await openForms(t, document, url)
  t.match(await early.send({ Body: 'x'.repeat(300_000) }), error('413 Payload Too Large', /^no$/))
})

type Got = { request: string; headers: Record<string, unknown>; body: string }

/** Starts a server that responds as the test decides, to pages of any origin. Returns its URL and what it receives. */
async function echo(t: Test, answer: (request: string) => { status?: number; body?: Buffer | string }) {
  const got: Got[] = []
  const server = createServer(async (request, response) => {
    const { headers } = request
    response.setHeader('access-control-allow-origin', '*')
    if ('access-control-request-method' in headers) {
      const asked = headers['access-control-request-headers']
      response.setHeader('access-control-allow-methods', '*')
      return response.writeHead(204, { 'access-control-allow-headers': asked ?? '' }).end()
    }
    const line = `${request.method} ${request.url}`
    got.push({ request: line, headers, body: await text(request) })
    const { status = 200, body = '' } = answer(line)
    response.writeHead(status).end(body)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close().closeAllConnections())
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const published = async (name: string): Promise<string> =>
  (
    await compileDocument(
      parse(readFileSync(`packages/fastify-contract-cli/test/documents/${name}/openapi.yaml`, 'utf8')),
      name,
    )
  ).files['openapi.json'] as string

t.test('every method is sent, with a body where one is described', inBrowser, async (t) => {
  const { got, url } = await echo(t, (request) => ({ status: request.startsWith('GET') ? 200 : 204 }))
  const page = await openForms(t, await published('methods'), url)
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE'])
    t.match(await page.send({ name: 'a/b' }, `${method} /files/{name}`), { status: /^20/ }, method)
  for (const method of ['PUT', 'PATCH', 'POST'])
    t.match(await page.send({ name: 'c', Body: largest }, `${method} /files/{name}`), { status: /^204/ }, method)
  await page.send({ name: 'd', Body: '' }, 'POST /files/{name}')
  t.same(
    got.map(({ request, body }) => `${request} ${body}`),
    [
      ...['GET /files/a%2Fb ', 'HEAD /files/a%2Fb ', 'OPTIONS /files/a%2Fb ', 'DELETE /files/a%2Fb '],
      ...[`PUT /files/c ${largest}`, `PATCH /files/c ${largest}`, `POST /files/c ${largest}`, 'POST /files/d '],
    ],
  )
  t.notOk('content-type' in (got.at(-1)?.headers ?? {}))
  const sent = got.length
  for (const name of ['.', '..']) {
    const { status } = await page.send({ name }, 'GET /files/{name}')
    t.equal(status, 'Not sent: a browser cannot send "." or ".." in a path', name)
  }
  t.match(await page.send({ name: '...' }, 'GET /files/{name}'), { status: /^200/ })
  t.equal(got.length, sent + 1)
  t.same(await violations(page), [])
})

t.test('parameters of every kind are sent in their style', inBrowser, async (t) => {
  const { got, url } = await echo(t, () => ({}))
  const page = await openForms(t, await published('parameters'), url)
  const values = {
    'shelf-id': '9223372036854775807',
    isbn: '1',
    format: 'json',
    each: '9007199254740993\n2',
    form: '1.50\n2',
    space: 'a\nb\nc',
    pipe: 'true\nfalse',
    'filter[name]': 'ä&',
    'X-Tags': 'a\nb',
    'session-id': '7',
  }
  t.match(await page.send(values), { status: /^200/ })
  const [{ request, headers } = { request: '', headers: {} }] = got
  t.equal(
    request,
    'GET /shelves/9223372036854775807/books/1.json?each=9007199254740993&each=2&form=1.50,2&space=a%20b%20c' +
      '&pipe=true%7Cfalse&filter%5Bname%5D=%C3%A4%26',
  )
  t.hasStrict(headers, { 'x-tags': 'a,b' })
  t.notOk('cookie' in headers, 'a page cannot send cookies')
  t.notOk('x-count' in headers, 'the page does not send an empty field')
})

t.test('objects are sent in their style, JSON as typed', inBrowser, async (t) => {
  const { got, url } = await echo(t, () => ({}))
  const page = await openForms(t, await published('styles'), url)
  const where = '{"id": 9007199254740993}'
  const values = {
    color: 'R=1\nname=a=b',
    page: 'limit=5',
    pipes: 'R=2\non=true',
    spaces: '1\n2',
    where,
    'X-Where': where,
  }
  t.match(await page.send(values, 'GET /v1/search'), { status: /^200/ })
  t.equal(
    got[0]?.request,
    'GET /v1/search?color%5BR%5D=1&color%5Bname%5D=a%3Db&limit=5&pipes=R%7C2%7Con%7Ctrue&spaces=1%202' +
      '&where=%7B%22id%22%3A%209007199254740993%7D',
  )
  t.equal(got[0]?.headers['x-where'], where)
  t.match(await page.send({ pipes: 'R|1=2' }, 'GET /v1/search'), {
    status: 'Not sent: pipes: its parts cannot contain "|"',
  })
})

t.test('nested values and whole query strings are sent with every digit', inBrowser, async (t) => {
  const { got, url } = await echo(t, () => ({}))
  const nested = await openForms(t, await published('nested'), url)
  await nested.send({ created: '5', expand: '0=a=b\n1=c', filter: 'any[0][is]=9007199254740993\nis=2' }, 'GET /charges')
  t.equal(
    got[0]?.request,
    'GET /charges?created=5&expand%5B0%5D=a%3Db&expand%5B1%5D=c&filter%5Bany%5D%5B0%5D%5Bis%5D=9007199254740993' +
      '&filter%5Bis%5D=2',
  )
  const whole = await openForms(t, await published('version-3-2'), url)
  await whole.send({ criteria: 'id=9007199254740993\ntags=a' }, 'GET /search')
  await whole.send({ filter: '[{"id": 9007199254740993}]' }, 'GET /filter')
  t.equal(got[1]?.request, 'GET /search?id=9007199254740993&tags=a')
  t.equal(got[2]?.request, 'GET /filter?%5B%7B%22id%22%3A%209007199254740993%7D%5D')
})

t.test('credentials are sent where an operation asks for them', inBrowser, async (t) => {
  const { got, url } = await echo(t, () => ({}))
  const page = await openForms(t, await published('security'), url)
  await page.send({ token: 't', headerKey: 'h', queryKey: 'q&', cookieKey: 'c' }, 'GET /either')
  t.equal(got[0]?.request, 'GET /either?key=q%26')
  t.hasStrict(got[0]?.headers, { authorization: 'Bearer t' })
  t.notOk('cookie' in (got[0]?.headers ?? {}), 'a page cannot send cookies')
  t.notOk('x-key' in (got[0]?.headers ?? {}))
  await page.send({ token: '', password: 'Ünal:x' }, 'POST /both')
  t.hasStrict(got[1]?.headers, { authorization: `Basic ${Buffer.from('Ünal:x').toString('base64')}`, 'x-key': 'h' })
  await page.send({}, 'GET /open')
  t.notOk('authorization' in (got[2]?.headers ?? {}))
})

t.test('a missing, oversized or non-text response is reported', inBrowser, async (t) => {
  const bodies = [Buffer.from([0xff, 0xfe, 0]), `a${'ä'.repeat(600_000)}`, '\ufeff{"a":1.0}']
  const { url } = await echo(t, () => ({ body: bodies.shift() ?? '' }))
  const page = await openForms(t, await published('methods'), url)
  const send = (values = {}) => page.send(values, 'GET /files getFiles')
  t.match(await send(), { status: /; the body of 3 bytes is not UTF-8 text$/, body: '' })
  const long = await send()
  t.match(long.status, /; the body is shown up to 1048576 bytes$/)
  t.equal(Buffer.byteLength(long.body), 1_048_575, 'the text ends at a character boundary')
  t.equal((await send()).body, '\ufeff{"a":1.0}')
  const nowhere = await openForms(t, await published('methods'), 'http://127.0.0.1:1')
  t.match(await nowhere.send({}, 'GET /files getFiles'), {
    status: /^Not sent: no response from http:\/\/127\.0\.0\.1:1,/,
  })
})

t.test('text of the document is never rendered as markup', async (t) => {
  const evil = '<img src=x onerror=alert(1)>"\''
  const document = JSON.parse(await published('parameters'))
  document.info.title = evil
  for (const item of Object.values(document.paths) as Record<string, { summary?: string; parameters?: object[] }>[])
    for (const operation of Object.values(item)) {
      operation.summary = evil
      operation.parameters?.push({ name: evil, in: 'query', required: true, example: evil, schema: { type: 'string' } })
    }
  const html = await tryPage(document)
  t.notMatch(html, '<img')
  t.match(html, '&lt;img src=x onerror=alert(1)&gt;&quot;&#39;')
})
