import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { diagnose } from 'fastify-contract-test-support/compiler'
import t from 'tap'
import { parse } from 'yaml'
import { exactClient } from '../../packages/fastify-contract/src/client/exact-client.ts'
import { type CodeSample, withCodeSamples } from '../../packages/fastify-contract-cli/src/docs/code-samples.ts'
import { resolve as at } from '../../packages/fastify-contract-cli/src/document/json-pointer.ts'
import { type Document, endpoints } from '../../packages/fastify-contract-cli/src/document/openapi-document.ts'
import { compileContract, compileDocument } from '../../packages/fastify-contract-cli/src/emit/compile.ts'
import { contract } from '../support/contract.ts'

/** The module of the client, as `npm run docs` names it. */
const clientModule = 'plant-store/client'

type Shown = { description: string; 'x-codeSamples': CodeSample[] }

/** Returns the operations of a document as its docs page shows them, each after its operationId. */
function shownOperations(document: Document): [name: string, operation: Shown][] {
  const shown = withCodeSamples(document, clientModule)
  return endpoints(shown).map(({ operationId, pointer }) => [operationId as string, at(shown, pointer) as Shown])
}

const sourceOf = ({ 'x-codeSamples': samples }: Shown, label: string): string =>
  samples.find((sample) => sample.label === label)?.source as string

const plants = JSON.parse(contract.documentText)

t.test('operations get samples and their operationId; the document is unchanged', async (t) => {
  const before = structuredClone(plants)
  const [[name, operation] = []] = shownOperations(plants)
  t.same(plants, before)
  t.equal(name, 'createPlant')
  t.match(operation?.description, /^`POST \/plants`, operation id `createPlant`\n\nCreates a new plant/)
  t.same(
    operation?.['x-codeSamples'].map(({ label }) => label),
    ['curl', 'TypeScript client', 'fetch'],
  )
  t.match(
    sourceOf(operation as Shown, 'TypeScript client'),
    /body: \{ id: 1n, name: 'Monstera deliciosa', tag: 'indoor' \}/,
  )
})

t.test('samples have placeholders for every credential of the first security requirement', async (t) => {
  const schemes = {
    header: { type: 'apiKey', in: 'header', name: 'X-Key' },
    query: { type: 'apiKey', in: 'query', name: 'key' },
    cookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
    basic: { type: 'http', scheme: 'BASIC' },
    connect: { type: 'openIdConnect', openIdConnectUrl: 'https://example.com/' },
    certificate: { type: 'mutualTLS' },
  }
  const sourcesOf = (...names: string[]) => {
    const security = [Object.fromEntries(names.map((name) => [name, []]))]
    const paths = { '/a': { get: { operationId: 'a', security, responses: {} } } }
    const [[, operation] = []] = shownOperations({ ...plants, paths, components: { securitySchemes: schemes } })
    return ['curl', 'TypeScript client', 'fetch'].map((label) => sourceOf(operation as Shown, label))
  }
  const all = sourcesOf('header', 'query', 'cookie', 'basic')
  for (const source of all) {
    t.match(source, /X-Key'?: '?API_KEY/)
    t.match(source, /Authorization'?: '?Basic <CREDENTIALS>/)
    t.match(source, /Cookie'?: '?sid=API_KEY/)
  }
  t.match(all[0], 'a?key=API_KEY')
  t.match(all[2], 'a?key=API_KEY')
  const [curl, client] = sourcesOf('connect', 'header')
  t.match(curl, 'Authorization: Bearer <ACCESS_TOKEN>')
  t.match(client, "token: '<ACCESS_TOKEN>'")
  t.match(client, "headers: { 'X-Key': 'API_KEY' }")
  for (const source of sourcesOf('certificate')) t.notMatch(source, /Authorization|token|headers/)
})

t.test('samples of the document take precedence', async (t) => {
  const own = [{ lang: 'ruby', label: 'Ruby', source: 'puts 1' }]
  const document = { ...plants, paths: { '/a': { get: { operationId: 'a', 'x-codeSamples': own, responses: {} } } } }
  const [[, operation] = []] = shownOperations(document)
  t.same(operation, {
    operationId: 'a',
    'x-codeSamples': own,
    responses: {},
    description: '`GET /a`, operation id `a`',
  })
})

t.test('the client of the samples is imported as documented', async (t) => {
  t.ok(readFileSync('docs/getting-started.md', 'utf8').includes(`import { createClient } from '${clientModule}'`))
  t.match(readFileSync('package.json', 'utf8'), `"client": "${clientModule}"`)
})

const directory = 'packages/fastify-contract-cli/test/documents'
const rules = `${directory}/redocly.yaml`
const texts = readdirSync(directory, { withFileTypes: true }).flatMap((entry): [string, string][] =>
  entry.isDirectory() ? [[entry.name, readFileSync(`${directory}/${entry.name}/openapi.yaml`, 'utf8')]] : [],
)
/** The generated files of each document of one file, which needs no bundling. */
const documents = Object.fromEntries(
  await Promise.all(
    texts
      .filter(([, text]) => !/\$ref: *['"]?[\w.]/.test(text))
      .map(async ([name, text]) => {
        // Limits beyond 2^53 have their digits in the source only.
        const isExact = /\d{17}/.test(text)
        const path = `${directory}/${name}/openapi.yaml`
        const compiled = isExact ? compileContract(path, { rules }) : compileDocument(parse(text), name)
        return [name, (await compiled).files]
      }),
  ),
) as Record<string, Record<string, string>>
const operations = Object.entries(documents).flatMap(([directoryName, files]) =>
  shownOperations(JSON.parse(files['openapi.json'] as string)).map(([name, shown]) => ({ directoryName, name, shown })),
)

/** The operations for which the client has a function. */
const inClient = operations.filter(({ shown }) => sourceOf(shown, 'TypeScript client') !== undefined)

t.test('the samples of the client have the types of their documents', async (t) => {
  const modules: Record<string, string> = {}
  for (const [name, files] of Object.entries(documents)) {
    modules[`${directory}/${name}/api.d.ts`] = files['api.d.ts'] as string
    modules[`${directory}/${name}/client-of-samples.ts`] = `import type { paths } from './api.d.ts'
import { type ClientOptions, exactClient } from '../../../../fastify-contract/src/client/exact-client.ts'
export const createClient = (options: ClientOptions) => exactClient<paths>({ nodes: [], responses: {} }, options)`
  }
  // openapi-typescript leaves out the owner's name in this document, which is required but has no schema.
  const typed = inClient.filter(({ directoryName }) => directoryName !== 'accounts')
  const samples = typed.map(({ directoryName, shown }, index) => {
    const path = `${directory}/${directoryName}/sample-${index}.ts`
    modules[path] = sourceOf(shown, 'TypeScript client').replace(clientModule, './client-of-samples.ts')
    return path
  })
  t.ok(samples.length > 30)
  t.same(diagnose(samples, modules), [])
})

t.test('the samples of an operation send the same request', async (t) => {
  const got: object[] = []
  const server = createServer(async ({ method, url, headers }, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of response.req) chunks.push(chunk)
    const { authorization, 'content-type': type } = headers
    // The sample of the client leaves an API key in the query to its option fetch.
    const target = url?.replace(/[?&]key=API_KEY$/, '')
    got.push({ method, target, authorization, type, body: Buffer.concat(chunks).toString() })
    response.writeHead(204).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const curl = await promisify(execFile)('curl', ['--version']).catch(() => undefined)
  if (curl === undefined) t.comment('NOT RUN: the samples for curl, which is not there')
  const here = (source: string) =>
    source.replaceAll(/(https?:\/\/)(127\.0\.0\.1:3000|api\.example\.com|localhost:8080)/g, origin)
  for (const { directoryName, name, shown } of inClient) {
    // Multipart forms have generated boundaries and cannot be compared; samples.test.ts sends them to the service.
    if (/@[\w.-]+/.test(sourceOf(shown, 'curl')) || sourceOf(shown, 'fetch').includes('FormData')) continue
    got.length = 0
    const lines: unknown[][] = []
    const console = { log: (...values: unknown[]) => lines.push(values) }
    const { parameters } = JSON.parse(documents[directoryName]?.['client.json'] as string)
    const createClient = (options: object) => exactClient({ parameters }, options as never)
    const client = here(sourceOf(shown, 'TypeScript client')).replace(/^import .*\n/, '')
    for (const source of [client, here(sourceOf(shown, 'fetch'))])
      await new Function('console', 'createClient', `return (async () => { ${source} })()`)(console, createClient)
    if (curl !== undefined)
      await promisify(execFile)('sh', ['-c', here(sourceOf(shown, 'curl'))], { cwd: resolve('.') })
    const title = `${directoryName} ${name}`
    t.equal(got.length, curl === undefined ? 2 : 3, title)
    const [first, ...others] = got
    for (const other of others) t.same(other, first, title)
  }
})
