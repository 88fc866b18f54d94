import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AnyErrorBody, ContractError } from 'fastify-contract'
import type { Routes } from 'fastify-contract/contract'
import { documentShapes } from 'fastify-contract-test-support/document-shapes'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import type { Document } from '../../src/document/openapi-document.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import { updateGenerated } from '../../src/emit/generated-files.ts'
import { loadErrorBody } from '../../src/rules/error-bodies.ts'
import { ownPath } from '../support/own-path.ts'
import { refusalLines } from '../support/refusal.ts'
import { errorBody as numbered } from '../support/serve-document.ts'

const problems: Document = parse(readFileSync(ownPath('test/documents/problems/openapi.yaml'), 'utf8'))
const own = await loadErrorBody(ownPath('test/documents/problems/handlers.ts'))
const { errorBody } = own
/** The module that the error messages name. */
const path = 'errors.ts'
const mistake = `correct the response, or errorBody in ${path}`

/** Asserts the lines of the message that rejects a document for its error bodies. Without lines it must be accepted. */
async function refuses(t: Test, document: Document, errorBody: AnyErrorBody, lines: string[]): Promise<void> {
  for (const skipUnsupported of lines.length === 0 ? [false] : [false, true]) {
    const { message } = await compileDocument(document, 'a.yaml', {
      errors: { path, errorBody },
      skipUnsupported,
    }).then(
      () => new Error('taken'),
      (error: Error) => error,
    )
    t.same(
      refusalLines({ message }).map((line) => line.replace(/, as in .*(?=; correct)/, '')),
      lines.length === 0
        ? ['taken']
        : ['a.yaml cannot be served as written:', ...lines.map((line) => `${line}; ${mistake}`)],
    )
  }
}

const documentOf = (responses: object, operation: object = {}): Document => ({
  openapi: '3.1.0',
  info: { title: '', version: '' },
  paths: { '/a': { post: { operationId: 'a', responses, ...operation } } },
})

const json = (schema: object) => ({ description: '', content: { 'application/json': { schema } } })
const at = '#/paths/~1a/post/responses'

t.test('the errors of a document with problem details match it', async (t) => refuses(t, problems, errorBody, []))

t.test('error schemas of another shape are rejected with location, statuses and reason', async (t) => {
  const declared = '#/components/responses'
  const type = 'sent as application/json, which is not declared'
  await refuses(t, problems, numbered, [
    `${declared}/Invalid/content: errors 400 are ${type}`,
    `${declared}/Problem/content: errors 400, 401, 403, 408, 413, 415, 417, 429, 431, 500, 503 are ${type}`,
  ])
  const bare: AnyErrorBody = () => ({ contentType: 'application/problem+json', body: {} })
  const is = "does not match the declared schema: body must have required property 'type'"
  await refuses(t, problems, bare, [
    `${declared}/Invalid/content: the body of errors 400 ${is}`,
    `${declared}/Problem/content: the body of errors 400, 401, 403, 408, 413, 415, 417, 429, 431, 500, 503 ${is}`,
  ])
})

t.test('errorBody is tried with long messages, with and without an operation, and may throw', async (t) => {
  const short = json({ properties: { message: { maxLength: 100 } } })
  await refuses(t, documentOf({ default: short }), numbered, [
    `${at}/default/content: the body of errors 400, 408, 415, 417, 429, 431, 500, 503 does not match the declared schema: body/message must NOT have more than 100 characters`,
  ])
  const byOperation: AnyErrorBody = (_, { operation }) => ({ contentType: 'application/json', body: operation ?? 1 })
  await refuses(t, documentOf({ default: json({ type: 'string' }) }), byOperation, [
    `${at}/default/content: the body of errors 400, 408, 417, 431, 500, 503 does not match the declared schema: body must be string`,
  ])
  await refuses(t, documentOf({ default: json({ type: 'integer' }) }), byOperation, [
    `${at}/default/content: the body of errors 400, 415, 429, 500, 503 does not match the declared schema: body must be integer`,
  ])
  const throwing: AnyErrorBody = ({ kind }) => {
    if (kind === 'internal') throw new Error('no body')
    return { contentType: 'Application/JSON', body: {} }
  }
  await refuses(t, documentOf({ default: json({}) }), throwing, [
    `${at}/default/content: errors 400, 408, 415, 417, 429, 431, 503 are sent as Application/JSON, which is not declared`,
    `${at}/default/content: the body of errors 500 does not match the declared schema: no body`,
  ])
})

t.test('only errors that can end a request to an operation count, where a response declares a body', async (t) => {
  const never = json({ not: {} })
  const statuses = ['400', '401', '403', '404', '405', '406', '408', '413', '415', '417', '429', '431', '500', '503']
  const each = Object.fromEntries(statuses.map((status) => [status, never]))
  const refused = (...statuses: string[]) =>
    statuses.map(
      (status) =>
        `${at}/${status}/content: the body of errors ${status} does not match the declared schema: body must NOT be valid`,
    )
  const always = ['400', '408', '417', '429', '431', '500', '503']
  await refuses(t, documentOf(each), numbered, refused(...always, '415').sort())
  const post = { operationId: 'a', responses: each }
  const read = refused(...always).map((line) => line.replace('/post/', '/get/'))
  await refuses(t, { ...documentOf({}), paths: { '/a': { get: post } } }, numbered, read)
  const security = [{ a: ['b'] }, {}]
  const types = { description: '', content: { 'text/plain': {}, 'application/json': {} } }
  const requestBody = { content: { 'application/json': {} } }
  const secured = documentOf({ 200: types, ...each }, { security, requestBody })
  secured.components = { securitySchemes: { a: { type: 'http', scheme: 'bearer' } } }
  await refuses(
    t,
    secured,
    numbered,
    refused('400', '401', '403', '406', '408', '413', '415', '417', '429', '431', '500', '503'),
  )
  await refuses(t, documentOf({ 200: { description: '' }, 400: { description: '' } }), numbered, [])
  await refuses(
    t,
    documentOf({ default: { description: '', content: { '*/*': { schema: false } } } }),
    () => ({ contentType: 'text/a', body: 'a' }),
    [],
  )
  const ranged = { description: '', content: { 'application/*': { schema: { type: 'string' } } } }
  await refuses(t, documentOf({ 503: ranged }), numbered, [
    `${at}/503/content: the body of errors 503 does not match the declared schema: body must be string`,
  ])
  await refuses(
    t,
    documentOf({ 503: { description: '', content: { 'text/a': { schema: { type: 'string', const: 'a' } } } } }),
    () => ({ contentType: 'text/a', body: 'b' }),
    [`${at}/503/content: the body of errors 503 does not match the declared schema: body must be equal to constant`],
  )
})

t.test('the message shows the invalid body, shortened', async (t) => {
  const document = documentOf({ 503: json({ properties: { code: { pattern: '^[a-z-]+$' } } }) })
  const line = async (code: string) => {
    const errorBody: AnyErrorBody = () => ({ contentType: 'application/json', body: { code, id: 9007199254740993n } })
    const { message } = (await compileDocument(document, 'a.yaml', { errors: { path, errorBody } }).catch(
      (error) => error,
    )) as Error
    return /: body\/(.*)/.exec(message)?.[1]
  }
  const reason = 'code must match pattern "^[a-z-]+$", as in {"code":'
  t.equal(await line('NO'), `${reason}"NO","id":9007199254740993}; ${mistake}`)
  t.equal(await line('N'.repeat(300)), `${reason}"${'N'.repeat(191)}…; ${mistake}`)
})

t.test('40001 needs a query or split path parameter, 40002 a JSON body', async (t) => {
  const rejection = (place: string) => [
    `${place}/400/content: the body of errors 400 does not match the declared schema: body/error must be equal to one of the allowed values`,
  ]
  const responses = { 400: json({ properties: { error: { enum: [40000, 40003] } } }) }
  const [integer, array] = [{ type: 'integer' }, { type: 'array' }]
  await refuses(
    t,
    documentOf(responses, { parameters: [{ name: 'n', in: 'query', schema: integer }] }),
    numbered,
    rejection(at),
  )
  await refuses(t, documentOf(responses, { parameters: [{ name: 'n', in: 'header', schema: integer }] }), numbered, [])
  await refuses(
    t,
    documentOf(responses, { requestBody: { content: { 'text/plain': {}, 'image/png': {} } } }),
    numbered,
    [],
  )
  const requestBody = { content: { 'text/plain': {}, 'application/a+json': {} } }
  await refuses(t, documentOf(responses, { requestBody }), numbered, rejection(at))
  for (const schema of [integer, array]) {
    const parameters = [{ name: 'n', in: 'path', required: true, schema }]
    const document = { ...documentOf({}), paths: { '/a/{n}': { get: { operationId: 'a', responses, parameters } } } }
    await refuses(t, document, numbered, schema === array ? rejection('#/paths/~1a~1%7Bn%7D/get/responses') : [])
  }
})

t.test("a document without an error table gets the service's numbers", async (t) => {
  const { 'error-numbers.ts': numbers } = (await compileDocument(documentOf({ 204: { description: '' } }), 'a.yaml'))
    .files
  t.match(numbers, /The service's errors: .* malformedRequest: 40000,\n/s)
  t.equal(new ContractError('notAcceptable', 'none').statusCode, 406)
})

t.test('a missing module or one without errorBody is rejected, and a changed one is reloaded', async (t) => {
  const folder = t.testdir({ 'none.js': 'export const a = 1', 'some.mjs': 'export const errorBody = () => 1' })
  await t.rejects(loadErrorBody(`${folder}/none.js`), { message: /none\.js does not export a function errorBody; add/ })
  await t.rejects(loadErrorBody('missing.js'), { message: /^missing\.js does not exist; correct the path, or add/ })
  t.equal((await loadErrorBody(`${folder}/some.mjs`)).errorBody({} as never, {} as never), 1)
  writeFileSync(`${folder}/some.mjs`, 'export const errorBody = () => 2')
  utimesSync(`${folder}/some.mjs`, 1, 1)
  t.equal((await loadErrorBody(`${folder}/some.mjs`)).errorBody({} as never, {} as never), 2)
})

const documentPath = 'openapi.yaml'
const shaped = (shape: string, count: number): Document => documentShapes[shape]?.(count) as Document

async function compiledSchemas(document: Document): Promise<number> {
  const { contract } = await compileDocument(document, documentPath)
  return Object.keys(contract.routes.schemas).length
}

for (const shape of ['chain of allOf', 'ring of references']) {
  // Quadratic time took 14 to more than 40 seconds for 1,000 schemas.
  t.test(`a ${shape} with 1,000 schemas compiles within seconds of CPU and does not overflow the stack`, async (t) => {
    const start = process.cpuUsage()
    t.equal(await compiledSchemas(shaped(shape, 1000)), 1000)
    const { user, system } = process.cpuUsage(start)
    t.ok((user + system) / 1e6 < 10, `took ${(user + system) / 1e6} s`)
  })
}

t.test('a document whose schemas are nested too deeply is rejected with a fix', async (t) => {
  const lists = `${'{"type":"array","items":'.repeat(3000)}true${'}'.repeat(3000)}`
  const responses = { 200: { description: 'ok', content: { 'application/json': { schema: JSON.parse(lists) } } } }
  const info = { title: 'Deep', version: '1' }
  const document = { openapi: '3.1.0', info, paths: { '/a': { get: { operationId: 'a', responses } } } }
  await t.rejects(compileDocument(document as unknown as Document, documentPath), {
    message:
      /openapi\.yaml cannot be served as written:\n {2}#: schemas are nested too deeply for openapi-typescript; move inner schemas into components/,
  })
})

const document: Document = {
  openapi: '3.1.0',
  info: { title: 'Test', version: '1' },
  paths: { '/a': { get: { operationId: 'getA', responses: { 204: { description: 'Done.' } } } } },
}

t.test('new handlers are printed once, and a foreign file is reported', async (t) => {
  const project = t.testdir({ 'handlers.ts': '' })
  const [directory, module] = [join(project, 'generated'), join(project, 'handlers.ts')]
  const printed = t.capture(console, 'log')
  const warned = t.capture(console, 'warn')
  const compiled = await compileDocument(document, 'a.yaml')
  t.equal((await updateGenerated(compiled, directory, module)).length, Object.keys(compiled.files).length)
  t.match(printed(), [{ args: [/^new, for .*handlers\.ts:\n\n {2}\/\/ GET \/a\n {2}async getA\(\)/] }])
  t.same(warned(), [])
  const surplus = join(directory, 'old.ts')
  writeFileSync(surplus, '')
  t.same(await updateGenerated(compiled, directory, module), [])
  t.same(printed(), [])
  t.match(warned(), [{ args: [`these files are not generated from the document; remove them: ${surplus}`] }])
  t.equal(readFileSync(join(directory, 'openapi.json'), 'utf8'), compiled.files['openapi.json'])
})

t.test('what changed for the handlers that stay is printed once', async (t) => {
  const project = t.testdir({ 'handlers.ts': '' })
  const [directory, module] = [join(project, 'generated'), join(project, 'handlers.ts')]
  await updateGenerated(await compileDocument(document, 'a.yaml'), directory, module)
  const printed = t.capture(console, 'log')
  const parameters = [{ in: 'header', name: 'x-tenant', required: true, schema: { type: 'string' } }]
  const other = await compileDocument(
    { ...document, paths: { '/a': { parameters, ...document.paths?.['/a'] } } },
    'a.yaml',
  )
  await updateGenerated(other, directory, module)
  t.match(printed(), [{ args: [/^changed, for .*handlers\.ts:\n\n {2}getA also receives header\['x-tenant'\]\n$/] }])
  await updateGenerated(other, directory, module)
  t.same(printed(), [])
  writeFileSync(join(directory, 'openapi.json'), '{ "paths": { "/a": { "parameters": 1, "get": {} } } }')
  await updateGenerated(other, directory, module)
  t.match(printed(), [{ args: [/^new, for /] }], 'a document that cannot be read has no operations')
})

t.test('without a module of handlers, none is named', async (t) => {
  const printed = t.capture(console, 'log')
  await updateGenerated(await compileDocument(document, 'a.yaml'), join(t.testdir({}), 'generated'), 'src/none.ts')
  t.match(printed(), [{ args: [/^new handlers:\n\n {2}\/\/ GET \/a\n/] }])
})

t.test('nothing is written when handlers cannot be made, so that the next run prints them', async (t) => {
  const directory = join(t.testdir({}), 'generated')
  const compiled = await compileDocument(document, 'a.yaml')
  await t.rejects(updateGenerated({ ...compiled, routes: {} as Routes }, directory, 'handlers.ts'))
  t.notOk(existsSync(directory))
})
