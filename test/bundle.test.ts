import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { compileDocument } from 'fastify-contract-cli/compile'
import { runCommand } from 'fastify-contract-test-support/child-process'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import { audience, createKey, startIssuer } from 'fastify-contract-test-support/issuer'
import t, { type Test } from 'tap'
import { cachedBundle } from './support/bundle-cache.ts'

const run = promisify(execFile)

const page = readFileSync('packages/fastify-contract/docs/bundle.md', 'utf8')

/** The commands of the page: an ES module, an ES module with fastify-openapi-glue, and a CommonJS module. */
const [esm = '', glue = '', cjs = ''] = Array.from(page.matchAll(/^npx esbuild (.*?)\n```/gms), ([, flags]) => flags)

const error = { type: 'object', required: ['code', 'message'] }
const json = (schema: object, rest: object = {}) => ({ content: { 'application/json': { schema, ...rest } } })
const id = { type: 'integer', format: 'int64' }
const errors = { default: { description: 'An error', ...json({ $ref: '#/components/schemas/Error' }) } }
const photo = { type: 'object', required: ['file'], properties: { file: { type: 'string', format: 'binary' } } }
const pet = '{"id":9007199254740993,"name":"Tom"}'
const document = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1.0.0' },
  security: [{ bearer: [] }],
  paths: {
    '/pets/{id}': {
      get: {
        operationId: 'getPet',
        'x-mcp': true,
        parameters: [{ name: 'id', in: 'path', required: true, schema: id }],
        responses: {
          200: { description: 'A pet', ...json({ $ref: '#/components/schemas/Pet' }, { example: 'PET' }) },
          ...errors,
        },
      },
    },
    '/photos': {
      post: {
        operationId: 'addPhoto',
        requestBody: { required: true, content: { 'multipart/form-data': { schema: photo } } },
        responses: { 204: { description: 'Added' }, ...errors },
      },
    },
  },
  webhooks: {
    petBorn: {
      post: {
        requestBody: { required: true, ...json({ $ref: '#/components/schemas/Pet' }) },
        responses: { 204: { description: 'Received' } },
      },
    },
  },
  components: {
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    schemas: {
      Pet: { type: 'object', required: ['id', 'name'], properties: { id, name: { type: 'string' } } },
      Error: { ...error, properties: { code: { type: 'integer' }, message: { type: 'string' } } },
    },
  },
}
const documentText = JSON.stringify(document).replace('"PET"', pet)

const token = 'a-token-of-the-tests-0123456789'

const parts = `contract,
  handlers: {
    getPet: async ({ path }) => ({ status: 200, body: { id: path.id, name: 'Tom' } }),
    async addPhoto({ body }) {
      for await (const part of body) part.stream.resume()
      return { status: 204, body: undefined }
    },
  },
  verifiers: { bearer: bearer(listVerifier(['${token}'])) },
  errorBody: ({ statusCode, message }) => ({
    contentType: 'application/json',
    body: { code: statusCode, message },
  }),
  limits: { eventLoopDelay: 60_000 },`

const application = (imports: string, register: string) => `import Fastify from 'fastify'
import { bearer, ${imports}, listVerifier } from 'fastify-contract'
${register.includes('openapiGlue') ? "import openapiGlue from 'fastify-openapi-glue'" : ''}
import { contract } from '../generated/contract.mjs'
const app = Fastify({ logger: true })
${register}
await app.listen({ host: '127.0.0.1', port: 0 })
`

/** The module src/server.ts of each kind of service. */
const services = {
  createServer: `import { bearer, createServer, listVerifier } from 'fastify-contract'
import { mcpServer } from 'fastify-contract/mcp'
import { webhookSender } from 'fastify-contract/webhooks'
import { pino } from 'pino'
import { contract } from '../generated/contract.mjs'
import tools from '../generated/mcp.json' with { type: 'json' }
import webhooks from '../generated/webhooks.json' with { type: 'json' }
const app = createServer({ ${parts} log: pino() })
app.register(mcpServer, { table: tools })
const sender = webhookSender(webhooks)
await sender.POST('petBorn', { url: 'http://127.0.0.1:9', body: { id: '7' } }).catch((error) => app.log.warn(error.message))
await app.listen({ host: '127.0.0.1', port: 0 })
`,
  contractPlugin: application('contractPlugin', `app.register(contractPlugin, { ${parts} })`),
  operationResolver: application(
    'operationResolver',
    `app.register(openapiGlue, {
  specification: JSON.parse(contract.documentText),
  operationResolver: operationResolver(app, { ${parts} }),
})`,
  ),
}

/** Returns a directory with a service in the workspace, whose packages esbuild finds. */
async function projectOf(t: Test, server: string): Promise<string> {
  const directory = t.testdir({ src: { 'server.ts': server }, generated: {} })
  const { files } = await compileDocument(JSON.parse(documentText), 'openapi.yaml')
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, 'generated', name), text)
  return directory
}

/** Runs a command of the page in a project. Returns the bundle, which is the only file of a directory without packages. */
async function bundle(t: Test, project: string, flags: string, more = ''): Promise<string> {
  const output = /--outfile=(\S+)/.exec(flags)?.[1] as string
  const esbuild = resolve('node_modules/.bin/esbuild')
  const { stderr } = await run('sh', ['-c', `${esbuild} ${flags} ${more}`], { cwd: project })
  t.notMatch(stderr, /warning|error/i)
  const directory = mkdtempSync(join(tmpdir(), 'bundle-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  const file = join(directory, output.replace(/.*\//, ''))
  renameSync(resolve(project, output), file)
  t.same(readdirSync(directory).length, 1)
  return file
}

type Started = ReturnType<typeof runCommand> & { url: string }

async function start(t: Test, file: string, environment: Record<string, string> = {}): Promise<Started> {
  const running = runCommand(t, [process.execPath, file], { NODE_OPTIONS: '', ...environment }, dirname(file))
  const [, url = ''] = await running.find('stdout', /Server listening at (http:[\w/.:]+)/)
  return { ...running, url }
}

/** Sends a form with one part, and returns the status of the response. */
async function statusOfPhoto(url: string, name: string, credentials = token): Promise<number> {
  const headers = { authorization: `Bearer ${credentials}`, 'content-type': 'multipart/form-data; boundary=x' }
  const body = `--x\r\ncontent-disposition: form-data; name="${name}"; filename="a"\r\n\r\na\r\n--x--\r\n`
  return (await httpRequest(`${url}/photos`, { method: 'POST', headers, body })).status
}

/** Asks a service for what each part of the engine does: validators, errors, exact integers, forms. */
async function assertServes(t: Test, { url, output }: Started, credentials = token): Promise<void> {
  const authorization = `Bearer ${credentials}`
  const get = async (path: string, headers = {}) => {
    const { status, headers: answered, body } = await httpRequest(url + path, { headers })
    t.match(answered['content-type'], /^application\/json(; charset=utf-8)?$/)
    return [status, body]
  }
  t.same(await get('/pets/9007199254740993', { authorization }), [200, pet])
  t.match(await get('/pets/7'), [401, /^\{"code":401,"message":".+"\}$/])
  t.match(await get('/pets/7.5', { authorization }), [
    400,
    /^\{"code":400,"message":"path\/id must be an int64 integer"\}$/,
  ])
  t.match(await get('/nowhere', { authorization }), [404, /^\{"(?:code":404|message":"Route GET)/])
  t.equal(await statusOfPhoto(url, 'file', credentials), 204)
  t.equal(output.stderr.replace(/^.* on http:\S+, operations: 2, admin server on http:\S+\n/, ''), '')
}

t.test('the directory of temporary files has no packages', async (t) => {
  const { stderr } = await runCommand(t, [process.execPath, '--eval', "require('fastify')"], {}, tmpdir()).untilEnded()
  t.match(stderr, "Cannot find module 'fastify'")
})

for (const [name, server] of Object.entries(services))
  t.test(`a service with ${name} runs as one file`, async (t) => {
    const project = await projectOf(t, server)
    const flags = name === 'operationResolver' ? glue : esm
    const service = await start(t, await bundle(t, project, flags))
    await assertServes(t, service)
    t.equal(await statusOfPhoto(service.url, 'other'), 400)
  })

t.test('tools for language models and webhooks run in a minified bundle', async (t) => {
  const project = await projectOf(t, services.createServer)
  const service = await start(t, await bundle(t, project, esm, '--minify --keep-names'))
  await assertServes(t, service)
  t.match(service.output.stdout, '"msg":"POST petBorn: body must have required property \'name\'"')
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
  }
  const call = async (method: string, params: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    return (await httpRequest(`${service.url}/mcp`, { method: 'POST', headers, body })).body
  }
  t.match(await call('tools/list', {}), '"name":"getPet"')
  const found = await call('tools/call', { name: 'getPet', arguments: { path: { id: '9007199254740993' } } })
  t.match(found, JSON.stringify(pet))
})

t.test('fastify-openapi-glue gets a document in a bundle, not a path', async (t) => {
  const server = services.operationResolver.replace('JSON.parse(contract.documentText)', "'openapi.json'")
  const file = await bundle(t, await projectOf(t, server), glue)
  const { code, stdout } = await runCommand(t, [process.execPath, file], { NODE_OPTIONS: '' }).untilEnded()
  t.equal(code, 1)
  t.match(stdout, 'specification is a path, which a bundle does not have; use JSON.parse(contract.documentText)\n')
})

t.test('a project of init runs as one file', async (t) => {
  const parent = t.testdir({ 'openapi.yaml': documentText })
  const cli = resolve('packages/fastify-contract-cli/src/cli.ts')
  const tsx = import.meta.resolve('tsx')
  await run(process.execPath, ['--import', tsx, cli, 'init', 'openapi.yaml', 'pets'], { cwd: parent })
  const project = join(parent, 'pets')
  mkdirSync(join(project, 'dist'), { recursive: true })
  const issuer = await startIssuer(t)
  const key = createKey(issuer.url)
  issuer.serve('/keys', { keys: [key.jwk] })
  const tokens = { JWT_ISSUER: issuer.url, JWT_AUDIENCE: audience, JWT_JWKS_URL: issuer.jwksUrl }

  const service = await start(t, await bundle(t, project, esm), tokens)
  await assertServes(t, service, key.token())
  const [, admin] = await service.find('stderr', /admin server on (\S+)\n/)
  const page = async (path: string) => (await httpRequest(admin + path)).body
  t.equal(await page('/openapi.json'), readFileSync(join(project, 'generated/openapi.json'), 'utf8'))
  t.match(
    await page('/metrics'),
    /^http_server_request_duration_seconds_count\{operation="getPet",method="GET",status="200"\} 1$/m,
  )
  t.equal(await page('/readyz'), 'ready\n')
  await service.find('stdout', /"operation":"getPet","status":200,.*"msg":"request"/)
  t.hasStrict(await service.stop(), { code: 0, signal: null })

  const common = await start(t, await bundle(t, project, cjs), { ACCESS_TOKENS: token, LOG_FORMAT: 'pretty' })
  t.match(common.output.stdout, /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: Server listening at /)
  await assertServes(t, common)
})

t.test('the plant store runs as one file', async (t) => {
  const directory = t.testdir()
  const flags = glue.replace('--outfile=', `--outfile=${directory}/`)
  const service = await start(t, await bundle(t, '.', flags), { ACCESS_TOKENS: token, STORE_URL: 'memory:' })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const create = (body: string) => httpRequest(`${service.url}/plants`, { method: 'POST', headers, body })
  t.hasStrict(await create('{"id":9223372036854775807,"name":"a"}'), { status: 200, body: '{"name":"a"}' })
  t.match(await create('{"id":1.5,"name":"a"}'), { status: 400, body: /^\{"error":40003,"message":"body\/id must be / })
})

t.test('the built service does not load undici by an import of node:http', async (t) => {
  const dist = join(await cachedBundle(), 'dist')
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'))
  const texts = files.map((file) => readFileSync(join(dist, file), 'utf8'))
  t.ok(texts.some((text) => text.includes(`process.getBuiltinModule("node:http")`)))
  t.same(
    files.filter((_, index) => /\bfrom "(node:)?http"/.test(texts[index] as string)),
    [],
  )
})

t.test('the client is one small file for browsers', async (t) => {
  const client = readFileSync('packages/fastify-contract/docs/client.md', 'utf8')
  const [, flags = ''] = /^npx esbuild (.*)$/m.exec(client) ?? []
  const project = await projectOf(t, '')
  writeFileSync(join(project, 'client.ts'), /^\/\/ client\.ts\n.*?(?=```)/ms.exec(client)?.[0] as string)
  const file = await bundle(t, project, flags)
  const text = readFileSync(file, 'utf8')
  t.ok(text.length < 17_500, `${text.length} bytes`)
  t.notMatch(text, /\bimport\b|\brequire\b|\bprocess\b|\bBuffer\b/)
  const { createClient } = await import(pathToFileURL(file).href)
  const requests: Request[] = []
  const fetch = async (request: Request) => {
    requests.push(request)
    return new Response(pet, { headers: { 'content-type': 'application/json' } })
  }
  const { data } = await createClient({ baseUrl: 'http://a.invalid', token, fetch }).GET('/pets/{id}', {
    params: { path: { id: 9007199254740993n } },
  })
  t.same(data, { id: 9007199254740993n, name: 'Tom' })
  t.match(requests, [{ url: 'http://a.invalid/pets/9007199254740993' }])
})
