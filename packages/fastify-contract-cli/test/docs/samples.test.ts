import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Fastify, { type HTTPMethods } from 'fastify'
import type { AnyHandler } from 'fastify-contract'
import { exactClient } from 'fastify-contract/client'
import { type Contract, exampleCommand, isStream } from 'fastify-contract/contract'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { type CodeSample, withCodeSamples } from '../../src/docs/code-samples.ts'
import { sourceOf } from '../../src/docs/plain-page.ts'
import { redocPage } from '../../src/docs/redoc-page.ts'
import { callStyles } from '../../src/document/call-styles.ts'
import { type Document, endpoints } from '../../src/document/openapi-document.ts'
import { int64Responses } from '../../src/emit/client-json.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import { requestFile } from '../../src/emit/requests-http.ts'
import { exampleCalls } from '../../src/examples/example-calls.ts'
import { normalizedDocument } from '../../src/passes/normalize.ts'
import { ownPath } from '../support/own-path.ts'
import { serveDocument } from '../support/serve-document.ts'

const names = ['bodies', 'forms', 'uploads', 'selected']
const hasCurl = await promisify(execFile)('curl', ['--version']).then(
  () => true,
  () => false,
)
if (!hasCurl) t.comment('NOT RUN: the samples for curl, which is missing')

type Item = Record<string, { responses: object; security?: object[]; 'x-codeSamples': CodeSample[] }>

/** Serves a document of test/documents with handlers that read the body and respond 204. */
async function serve(t: Test, name: string) {
  const document = parse(readFileSync(`${ownPath('test/documents')}/${name}/openapi.yaml`, 'utf8')) as Document
  for (const item of Object.values(document.paths as Record<string, Item>))
    for (const operation of Object.values(item)) {
      operation.responses = { 204: { description: 'Read.' } }
      operation.security = []
    }
  const read = new Set<string>()
  const handlers = Object.fromEntries(
    endpoints(document).map(({ operationId }) => [
      operationId,
      (async ({ body }: { body: unknown }) => {
        if (isStream(body)) for await (const _part of body);
        read.add(operationId)
        return { status: 204, body: undefined }
      }) as unknown as AnyHandler,
    ]),
  )
  const app = await serveDocument(document, { handlers })
  t.teardown(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { document: { ...document, servers: [{ url }] }, app, read }
}

for (const name of names) {
  t.test(`the service accepts each sample of ${name}`, async (t) => {
    const { document, read } = await serve(t, name)
    const directory = t.testdir()
    const table = { parameters: callStyles(normalizedDocument(document)) }
    const statuses: number[] = []
    const printing = { log: (status: number) => statuses.push(status) }
    const createClient = (options: { baseUrl: string }) => exactClient(table, options)
    const run = async (source: string) => {
      const text = source.replace(/^import .*\n/m, '')
      const make = new Function('createClient', 'console', `return async () => { ${text} }`)
      await make(createClient, printing)()
    }
    const { paths } = withCodeSamples(document, './client.ts') as unknown as { paths: Record<string, Item> }
    for (const { path, method, operationId } of endpoints(document)) {
      const { 'x-codeSamples': samples } = (paths[path] as Item)[method.toLowerCase()] as Item[string]
      t.equal(samples.length, 3, operationId)
      for (const { label, source } of samples) {
        read.delete(operationId)
        if (label === 'curl') {
          if (!hasCurl) continue
          for (const [, file = ''] of source.matchAll(/@([\w.-]+)/g)) writeFileSync(join(directory, file), 'bytes')
          await promisify(execFile)('sh', ['-c', source], { cwd: directory })
        } else await run(source)
        t.ok(read.has(operationId), `${operationId}: ${label}`)
      }
    }
    t.same(new Set(statuses), new Set([204]))
  })

  t.test(`the service accepts each request of the HTTP file of ${name}`, async (t) => {
    const { document, app } = await serve(t, name)
    const [, ...requests] = requestFile(normalizedDocument(document)).split(/^###.*\n/m)
    t.equal(requests.length, endpoints(document).length)
    for (const request of requests) {
      const [head = '', ...rest] = request
        .replace(/^#.*\n/gm, '')
        .replaceAll('{{origin}}', '')
        .replace(/\n {4}(?=[?&])/g, '')
        .split('\n\n')
      const [first = '', ...lines] = head.trimEnd().split('\n')
      const [method, url = ''] = first.split(' ')
      const payload = rest
        .join('\n\n')
        .trimEnd()
        .replace(/^< .*$/gm, 'bytes')
        .replaceAll('\n', '\r\n')
      const headers = Object.fromEntries(lines.map((line) => line.split(/: (.*)/).slice(0, 2)))
      const answer = await app.inject({ method: method as HTTPMethods, url, headers, payload })
      t.equal(answer.statusCode, 204, `${first} ${answer.body}`)
    }
  })
}

const done = { 204: { description: 'Done.' } }
const schemes = {
  token: { type: 'http', scheme: 'bearer' },
  password: { type: 'http', scheme: 'basic' },
  key: { type: 'apiKey', in: 'query', name: 'key' },
}
const file = { type: 'string', format: 'binary' }
const bodies = {
  json: { 'application/json': { schema: { type: 'integer', format: 'int64' }, example: 7 } },
  form: { 'application/x-www-form-urlencoded': { schema: { properties: { a: { type: 'string', example: 'b c' } } } } },
  image: { 'image/png': {} },
  parts: { 'multipart/form-data': { schema: { properties: { a: { type: 'string', example: 'b' }, photo: file } } } },
}

/** Returns the contract of a document with the given paths. */
async function contractOf(paths: object): Promise<Contract> {
  const document = {
    openapi: '3.1.0',
    info: { title: 'Test', version: '1' },
    servers: [{ url: 'https://example.com/v1/' }],
    components: { securitySchemes: schemes },
    paths,
  }
  const { contract } = await compileDocument(document as Document, 'a.yaml', {}, () => '')
  return { documentText: JSON.stringify(document), routes: contract.routes }
}
const postOf = ([name, content, more]: [string, object, object?]) => [
  `/${name}`,
  { post: { operationId: name, requestBody: { content, ...more }, responses: done } },
]

t.test('the example calls have credentials with the token, and bodies of every kind', async (t) => {
  const secured = Object.keys(schemes).map((name) => [
    `/${name}/{id}`,
    {
      get: {
        operationId: name,
        security: [{ [name]: [] }],
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', example: 'a b' } }],
        responses: done,
      },
    },
  ])
  const paths = Object.fromEntries([...secured, ...Object.entries(bodies).map(postOf)])
  const calls = exampleCalls(await contractOf(paths), 'secret')
  t.same(
    calls.slice(0, 3).map(({ operationId, request: { method, url, headers } }) => [operationId, method, url, headers]),
    [
      ['token', 'GET', '/v1/token/a%20b', { Authorization: 'Bearer secret' }],
      ['password', 'GET', '/v1/password/a%20b', { Authorization: `Basic ${btoa('access-token-1:secret')}` }],
      ['key', 'GET', '/v1/key/a%20b?key=secret', {}],
    ],
  )
  const app = Fastify()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.post('/v1/*', async ({ headers, body }) => `${headers['content-type']} ${body}`)
  const sent = await Promise.all(calls.slice(3).map(async ({ request }) => (await app.inject(request)).body))
  t.same(sent.slice(0, 3), ['application/json 7', 'application/x-www-form-urlencoded a=b%20c', 'image/png example.png'])
  t.match(sent[3], /^multipart\/form-data; boundary=/)
  t.match(sent[3], /name="a"\r\n\r\nb\r\n/)
  t.match(sent[3], /name="photo"; filename="photo\.bin"\r\nContent-Type: application\/octet-stream\r\n\r\nphoto\.bin/i)
})

t.test('an example call meets the first requirement that it can', async (t) => {
  const pathOf = (operationId: string, ...security: object[]) => ({ get: { operationId, security, responses: done } })
  const both = { token: [], password: [] }
  const calls = exampleCalls(
    await contractOf({
      '/a': pathOf('a', both, { password: [] }),
      '/b': pathOf('b', both),
      '/c': pathOf('c', both, {}),
      '/d': pathOf('d', { token: [], key: [] }),
    }),
    'secret',
  )
  const Authorization = 'Bearer secret'
  t.same(
    calls.map(({ operationId, request: { headers } }) => [operationId, headers]),
    [
      ['a', { Authorization: `Basic ${btoa('access-token-1:secret')}` }],
      ['c', {}],
      ['d', { Authorization }],
    ],
  )
})

t.test('the example curl calls the first operation that needs no file', async (t) => {
  const curlOf = async (url: string, token: string, paths: object) =>
    exampleCommand((await contractOf(paths)).routes, url, token)
  const entries = Object.entries(bodies).reverse()
  const curl = await curlOf('http://127.0.0.1:3000', 'secret', Object.fromEntries(entries.map(postOf)))
  t.match(curl, /^curl -X POST 'http:\/\/127\.0\.0\.1:3000\/v1\/form' /)
  const files = await curlOf('http://a', 'b', Object.fromEntries(entries.slice(0, 2).map(postOf)))
  t.match(files, /^curl -X POST 'http:\/\/a\/v1\/parts' (.*\\\n)*.*-F 'photo=@photo\.bin;type=/)
  t.equal(await curlOf('http://a', 'b', {}), undefined)
  for (const [name, credentials] of [
    ['password', `Authorization: Basic ${btoa('access-token-1:secret')}`],
    ['key', '?key=secret'],
  ]) {
    const security = [{ [name as string]: [] }]
    const paths = { '/a': { get: { operationId: 'a', security, responses: { 204: { description: '' } } } } }
    t.match(await curlOf('http://a', 'secret', paths), credentials)
  }
})

t.test('an invalid example of a body is replaced by the examples of its schema, or else by a made value', async (t) => {
  const text = { type: 'string', format: 'uuid' }
  const id = '2e3b4f5a-6b7c-4d9e-8f1a-2b3c4d5e6f7a'
  const bodyOf = (schema: object) => ({ 'application/json': { schema, example: { id: 'no uuid' } } })
  const paths = [
    postOf(['shown', bodyOf({ type: 'object', properties: { id: { ...text, example: id } } })]),
    postOf(['made', bodyOf({ type: 'object', properties: { id: { ...text, example: 'no uuid' } } })]),
    postOf(['optional', bodyOf({ type: 'object', required: ['a'], maxProperties: 0 })]),
    postOf(['never', bodyOf({ type: 'object', required: ['a'], maxProperties: 0 }), { required: true }]),
  ]
  const [shown, made, optional, never] = exampleCalls(await contractOf(Object.fromEntries(paths)), 'secret')
  t.equal(shown?.request.payload, `{"id":"${id}"}`)
  t.match(made?.request.payload, /^\{"id":"[\da-f-]{36}"\}$/)
  t.same([optional?.operationId, optional?.request.payload], ['optional', undefined])
  t.equal(never, undefined, 'left out if none is valid')
})

const groups = [
  'return[r,_h(r)].some(e=>n===e||n.endsWith(e)||n.includes(e+`/`))}',
  'e.content===null||s&&!P(e.gatePath,t)?null:1',
  '{shouldRenderOps:e.sectionId===u||!1}',
].join('\n')
const redoc = `'https://cdn.redoc.ly/redoc/logo-mini.svg </Script>'\n${groups}\nexport{RedocStandalone,hydrate,init};`
const parts = { title: 'A & <b>', document: '{"a":"</script>\u2028"}', redoc, ownScript: 'own()' }

t.test('the logo is emptied, samples are named, and no text of the document is markup', async (t) => {
  const html = redocPage(parts)
  t.notMatch(html, /redoc\.ly|<b>|\u2028/)
  t.match(html, /const __redoc_options = \{"codeSamples":\{"languages":\[\{"lang":"curl","label":"curl"\}/)
  t.ok(html.includes('const __redoc_definition = {"a":"\\u003c/script>\\u2028"};'))
  t.equal(html.match(/<\/script>/gi)?.length, 2)
  t.ok(html.includes('<title>A &amp; &lt;b&gt;</title>'))
  t.ok(html.includes(`script-src ${sourceOf('own()')} 'sha256-`))
})

t.test('groups of operations are expanded', async (t) => {
  const html = redocPage(parts)
  for (const text of ['return!0}', 'e.content===null?null:1', '{shouldRenderOps:!0}']) t.ok(html.includes(text), text)
})

t.test('a script of another version is rejected', async (t) => {
  const others = [
    redoc.replace('export{', 'module.exports={'),
    redoc.replace('hydrate', 'render'),
    redoc.replace('cdn.redoc.ly', 'example.com'),
    redoc.replace('.some', '.every'),
    redoc.replace('gatePath', 'path'),
    redoc.replace('sectionId', 'id'),
  ]
  for (const other of others)
    t.throws(() => redocPage({ ...parts, redoc: other }), /differs from that of version 2\.77/, other)
})

t.test('a GET with a body has a sample for curl only, since fetch cannot send it', async (t) => {
  const requestBody = { required: true, content: bodies.json }
  const paths = { '/a': { get: { operationId: 'a', requestBody, responses: done } } }
  const document = { openapi: '3.1.0', info: { title: 'Test', version: '1' }, servers: [{ url: 'https://a.b' }], paths }
  const { paths: shown } = withCodeSamples(document as never, './client.ts') as unknown as {
    paths: Record<string, Item>
  }
  t.match(
    shown['/a']?.get?.['x-codeSamples'].map(({ label, source }) => [label, source]),
    [['curl', /^curl -X GET 'https:\/\/a\.b\/a'.*-d '?7'?/s]],
  )
  t.equal(shown['/a']?.get?.['x-codeSamples'].length, 1)
})

t.test('a QUERY has a sample for the client', async (t) => {
  const requestBody = { required: true, content: bodies.json }
  const paths = { '/a': { query: { operationId: 'a', requestBody, responses: done } } }
  const document = { openapi: '3.2.0', info: { title: 'Test', version: '1' }, servers: [{ url: 'https://a.b' }], paths }
  const { paths: shown } = withCodeSamples(document as never, './client.ts') as unknown as {
    paths: Record<string, Item>
  }
  t.match(
    shown['/a']?.query?.['x-codeSamples'].map(({ label, source }) => [label, source]),
    [
      ['curl', /^curl -X QUERY 'https:\/\/a\.b\/a'/],
      ['TypeScript client', /client\.QUERY\('\/a', \{ body: 7n \}\)/],
      ['fetch', /method: 'QUERY'/],
    ],
  )
})

t.test('the sample for the client prints what the operation responds with', async (t) => {
  const pet = { type: 'object', properties: { id: { type: 'integer', format: 'int64' } } }
  const forms: Record<string, [types: string[], sent: string, printed: unknown[]]> = {
    json: [['application/json', 'text/csv'], '{"id":7}', [[200, { id: 7n }]]],
    lines: [['application/jsonl'], '{"id":7}\n{"id":8}\n', [[200, undefined], [{ id: 7n }], [{ id: 8n }]]],
    events: [['text/event-stream'], 'id: a\ndata: {"id":7}\n\n', [[200, undefined], [{ data: { id: 7n }, id: 'a' }]]],
    text: [['text/plain'], 'seven', [[200, 'seven']]],
    either: [['text/csv', 'application/jsonl'], 'seven', [[200, 'seven']]],
    image: [['image/*', 'text/plain'], 'seven', [[200, new Blob(['seven'], { type: 'image/*' })]]],
    range: [['*/*'], '{"id":7}', [[200, { id: 7 }]]],
    none: [[], '', [[200, undefined]]],
  }
  const paths: [string, object][] = Object.entries(forms).map(([name, [types]]) => {
    const content = Object.fromEntries(types.map((type) => [type, { schema: pet }]))
    return [`/${name}`, { get: { operationId: name, responses: { 200: { description: '', content } } } }]
  })
  paths.push([
    '/head',
    { head: { operationId: 'head', responses: { 200: { description: '', content: { 'text/csv': {} } } } } },
  ])
  const document = {
    openapi: '3.1.0',
    info: { title: 'Test', version: '1' },
    servers: [{ url: 'https://a.b' }],
    paths: Object.fromEntries(paths),
  } as unknown as Document
  const table = int64Responses(normalizedDocument(document))
  const { paths: shown } = withCodeSamples(document, './client.ts') as unknown as { paths: Record<string, Item> }
  const run = async (source: string, type: string, text: string) => {
    const printed: unknown[] = []
    const fetch = async () => new Response(text, { headers: { 'content-type': type } })
    const createClient = (options: { baseUrl: string }) => exactClient(table, { ...options, fetch })
    const make = new Function(
      'createClient',
      'console',
      `return async () => { ${source.replace(/^import .*\n/m, '')} }`,
    )
    await make(createClient, { log: (...values: unknown[]) => printed.push(values) })()
    return printed
  }
  for (const [name, [[type = ''], text, printed]] of Object.entries(forms)) {
    const sample = shown[`/${name}`]?.get?.['x-codeSamples'][1] as CodeSample
    t.same(await run(sample.source, type, text), printed, name)
  }
  t.notMatch(shown['/head']?.head?.['x-codeSamples'][1]?.source, 'parseAs')
})
