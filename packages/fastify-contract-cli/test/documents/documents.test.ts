import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AnyErrorBody, AnyHandler } from 'fastify-contract'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import type { Document } from '../../src/document/openapi-document.ts'
import { isNode, type Node } from '../../src/document/walk-document.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import { readSources } from '../../src/read/source-files.ts'
import { bundle, redocly } from '../../src/redocly/redocly.ts'
import { bodyValidator } from '../conformance/body-validator.ts'
import { ownPath } from '../support/own-path.ts'
import {
  compileRoutes,
  type Served as ServeOptions,
  serveDocument,
  serveRoutes,
  errorBody as usualErrorBody,
} from '../support/serve-document.ts'
import { calls, errorBody, failures, handlers, verifiers } from './problems/handlers.ts'
import { type Call, directory, names, type Served } from './served-documents.ts'
import { specificationFields } from './specification-fields.ts'

const rules = `${directory}/redocly.yaml`
const pathOf = (name: string) => `${directory}/${name}/openapi.yaml`

/** Compiles a document. Only one in several files is bundled, and all are linted at once: each command starts Redocly. */
async function compiled(name: string): Promise<Compiled> {
  const path = pathOf(name)
  const hasFiles = readdirSync(dirname(path)).length > 2
  const sources = await readSources(path)
  const [source] = sources.files.values()
  const document = hasFiles ? await bundle(path, rules, sources) : (source?.value as Document)
  return await compileDocument(document, path, {})
}

t.test('the documents are valid', async (t) => {
  const refused = ['refused.yaml', 'refused-3-2.yaml'].map((name) => `${directory}/${name}`)
  await t.resolves(redocly(['lint', `--config=${directory}/valid-openapi.yaml`, ...names.map(pathOf), ...refused]))
})

for (const name of names)
  t.test(`${name} is served as documented`, async (t) => {
    const { contract } = await compiled(name)
    const printed = (['log', 'warn', 'error'] as const).map((method) => t.capture(console, method))
    const {
      handlers,
      verifiers = {},
      errorBody = usualErrorBody,
      calls,
    }: Served = await import(pathToFileURL(resolve(directory, name, 'handlers.ts')).href)
    const logged: string[] = []
    const app = await serveRoutes(contract.routes, {
      handlers: handlers as Record<string, AnyHandler>,
      verifiers,
      errorBody,
      logger: { level: 'warn', stream: { write: (line) => logged.push(line) } },
    })
    t.teardown(() => app.close())
    const origin = await app.listen({ host: '127.0.0.1', port: 0 })
    for (const call of calls) await check(t, origin, call)
    t.same(
      printed.flatMap((print) => print()),
      [],
      'the process prints nothing',
    )
    t.same(logged, [], 'the service logs nothing')
  })

async function check(t: Test, origin: string, call: Call): Promise<void> {
  const [method = '', target = ''] = call.request.split(' ')
  const { send } = call
  const type = send === undefined ? {} : { 'content-type': 'application/json' }
  const sent = send === undefined || typeof send === 'string' ? send : JSON.stringify(send)
  const { status, headers, body } = await httpRequest(origin, {
    method,
    path: target,
    // Node sends the body of a DELETE only with a Content-Length.
    headers: { ...type, ...(sent !== undefined && { 'content-length': Buffer.byteLength(sent) }), ...call.headers },
    ...(sent !== undefined && { body: sent }),
  })
  const name = `${call.request} ${send === undefined ? '' : JSON.stringify(send)}`.slice(0, 100)
  if (!t.equal(status, call.status ?? 200, name)) t.comment(body)
  if (call.error !== undefined) t.match(JSON.parse(body), { error: call.error }, name)
  if (typeof call.body === 'string') t.equal(body, call.body, name)
  else if (call.body instanceof RegExp) t.match(body, call.body, name)
  else if (call.body !== undefined) t.match(JSON.parse(body), call.body as object, name)
  if (call.answer !== undefined) t.match(headers, call.answer, name)
}

const [, ...sections] = readFileSync(ownPath('docs/openapi.md'), 'utf8').split('\n## ')
const specified = specificationFields()
const keyOf = (object: string): string => object.replaceAll(' ', '').toLowerCase()

/** The fields of each object with their treatment, by the object's name in lower case. A row may have several fields. */
const tables = new Map(
  sections.flatMap((section): [string, { field: string; outcome: string }[]][] => {
    if (section.startsWith('Objects without effect\n'))
      return Array.from(section.matchAll(/([A-Z]\w+(?: [A-Z]\w+)*) Object\b/g), ([, object = '']) => [
        keyOf(object),
        Array.from(specified.get(keyOf(object)) ?? [], (field) => ({ field, outcome: 'ignored' })),
      ])
    const [, object] = /^(.*) Object\n/.exec(section) ?? []
    if (object === undefined) return []
    const [, ...rows] = Array.from(section.matchAll(/^\| (.*?) \| (\w+)/gm))
    return [[keyOf(object), rows.flatMap(([, cell = '', outcome = '']) => fieldsIn(cell, outcome))]]
  }),
)

function fieldsIn(cell: string, outcome: string) {
  return Array.from(cell.matchAll(/`(.*?)`/g), ([, field = '']) => ({ field, outcome }))
}

/** The fields that each test shows, as `object.field`, by its document, or by its file and title. */
const fieldTests: { documents: Record<string, string>; tests: Record<string, Record<string, string>> } = parse(
  readFileSync(`${directory}/field-tests.yaml`, 'utf8'),
)

t.test('every field of OpenAPI has one row, and every row is a field', async (t) => {
  const objects = [...tables.keys()].filter((object) => specified.has(object))
  t.same(objects.toSorted(), [...specified.keys()].toSorted(), 'each object has a table')
  for (const [object, rows] of tables) {
    const fixed = rows.map(({ field }) => field).filter((field) => !field.includes('{'))
    t.same(fixed.toSorted(), [...(specified.get(object) ?? [])].toSorted(), object)
    for (const { field, outcome } of rows) t.match(outcome, /^(served|rejected|ignored)$/, `${object} ${field}`)
  }
})

t.test('every field that is served or rejected has an existing test', async (t) => {
  const { documents, tests } = fieldTests
  const rows = Array.from(tables, ([object, rows]) =>
    rows.map((row) => ({ ...row, field: `${object}.${row.field}` })),
  ).flat()
  const shown = [documents, ...Object.values(tests)]
    .flatMap((each) => Object.values(each))
    .join(' ')
    .split(' ')
  t.same(
    [...new Set(shown.map((field) => field.replace(/^\w+/, keyOf)))].toSorted(),
    rows.flatMap(({ field, outcome }) => (outcome === 'ignored' ? [] : [field])).toSorted(),
  )
  for (const document of Object.keys(documents)) t.ok(names.includes(document), document)
  for (const [path, titles] of Object.entries(tests)) {
    // A copy of this package alone has no tests of the other one.
    if (path.startsWith('../') && !existsSync(ownPath('../fastify-contract/test'))) continue
    const source = readFileSync(ownPath(path), 'utf8')
    for (const title of Object.keys(titles)) t.ok(source.includes(`'${title}'`), `${path}: ${title}`)
  }
})

t.test('a field that is ignored has no effect on the service', async (t) => {
  const whole: Node = parse(readFileSync(ownPath('test/documents/ignored-fields.yaml'), 'utf8'))
  const routesOf = (document: Node) => JSON.stringify(compileRoutes(document as never))
  const verdictsOf = async (document: Node) => {
    const isValid = await bodyValidator(at(document, box))
    return [{}, { name: 'a' }, { name: 1 }, { name: '1' }, []].map((value) => isValid?.(value))
  }
  const routes = routesOf(whole)
  const verdicts = await verdictsOf(whole)
  t.same(verdicts, [true, true, false, true, false])
  for (const [object, rows] of tables)
    for (const { field, outcome } of rows) {
      if (outcome !== 'ignored' || field.includes('{')) continue
      const document = structuredClone(whole)
      const holders = (places[object] ?? [])
        .map((place) => at(document, place))
        .filter((node) => Object.hasOwn(node, field))
      t.not(holders.length, 0, `${object} ${field} is in the document`)
      for (const node of holders) delete node[field]
      // The route schemas keep the annotations of schemas, so only the verdicts are compared.
      if (object === 'schema') t.same(await verdictsOf(document), verdicts, `${object} ${field}`)
      else t.equal(routesOf(document), routes, `${object} ${field}`)
    }
})

t.test('a $ref may point below definitions', async (t) => {
  const isValid = await bodyValidator({ $ref: '#/definitions/Count', definitions: { Count: { type: 'integer' } } })
  t.same([isValid?.(1), isValid?.('1')], [true, false])
})

function at(document: Node, place: string): Node {
  const found = place.split(' ').reduce<unknown>((node, key) => (key === '' ? node : Object(node)[key]), document)
  return isNode(found) ? found : {}
}

const operation = 'paths /boxes post'
const box = 'components schemas Box'
const flows = 'components securitySchemes login flows'

/** The places of each kind of object in the document. */
const places: Record<string, string[]> = {
  openapi: [''],
  info: ['info'],
  contact: ['info contact'],
  license: ['info license'],
  server: ['servers 0'],
  servervariable: ['servers 0 variables version'],
  components: ['components'],
  pathitem: ['paths /boxes'],
  operation: [operation],
  externaldocumentation: ['externalDocs'],
  parameter: [`${operation} parameters 0`, `${operation} parameters 1`],
  requestbody: [`${operation} requestBody`],
  mediatype: [`${operation} requestBody content application/json`],
  encoding: [`${operation} requestBody content application/json encoding name`],
  response: [`${operation} responses 200`],
  example: ['components examples Small'],
  link: ['components links Same'],
  header: [`${operation} responses 200 headers X-Color`],
  tag: ['tags 0'],
  reference: [`${operation} parameters 2`],
  schema: [box, `${box} properties name`],
  xml: [`${box} xml`],
  securityscheme: ['login', 'token', 'provider'].map((name) => `components securitySchemes ${name}`),
  oauthflows: [flows],
  oauthflow: ['implicit', 'password', 'deviceAuthorization'].map((name) => `${flows} ${name}`),
}

const document = parse(readFileSync(ownPath('test/documents/problems/openapi.yaml'), 'utf8'))

async function listening(t: Test, options: ServeOptions = {}): Promise<number> {
  const app = await serveDocument(document, { handlers: handlers as never, verifiers, errorBody, ...options })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

const type = 'application/problem+json; charset=utf-8'

t.test('every error over sockets has the documented shape', async (t) => {
  const port = await listening(t)
  for (const { request, headers, send, status = 200, body, answer } of [...calls, ...failures]) {
    const [method, target] = request.split(' ')
    const json = send === undefined ? {} : { 'content-type': 'application/json' }
    const text = typeof send === 'string' ? send : JSON.stringify(send)
    const got = await httpRequest(`http://127.0.0.1:${port}${target}`, {
      method,
      headers: { ...json, ...headers },
      ...(send !== undefined && { body: text }),
    })
    t.equal(got.status, status, request)
    if (typeof body === 'string' || body instanceof RegExp) t.match(got.body, body, request)
    else t.match(JSON.parse(got.body), body, request)
    if (answer !== undefined) t.match(got.headers, answer, request)
  }
})

t.test('errors of malformed bytes have the documented shape', async (t) => {
  const port = await listening(t, { limits: { headers: 2_000 } })
  const long = `GET /pots/1 HTTP/1.1\r\nHost: a\r\nX-Long: ${'a'.repeat(3_000)}\r\n\r\n`
  const cases: [bytes: string, status: number, title: string][] = [
    [long, 431, 'Request Header Fields Too Large'],
    [`GET /pots/1 HTTP/1.1\r\nHost: a\r\nX-Long: ${'a'.repeat(20_000)}`, 431, 'Request Header Fields Too Large'],
    ['no request\r\n\r\n', 400, 'Bad Request'],
    ['GET /pots/1 HTTP/1.1\r\n\r\n', 400, 'Bad Request'],
    ['GET /pots/1 HTTP/1.1\r\nHost: a\r\nExpect: a\r\nConnection: close\r\n\r\n', 417, 'Expectation Failed'],
    ['CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'Method Not Allowed'],
  ]
  for (const [bytes, status, title] of cases) {
    const text = await (await openSocket(t, port, bytes)).closed()
    const [head = '', body = ''] = text.split('\r\n\r\n')
    t.match(head, `HTTP/1.1 ${status} `)
    t.match(head.toLowerCase(), `content-type: ${type}`, title)
    const id = /x-request-id: (.*)/i.exec(head)?.[1]
    t.match(JSON.parse(body), { type: 'about:blank', title, status, instance: `urn:request:${id}` })
  }
})

t.test('an error whose errorBody throws is sent as plain text with its status', async (t) => {
  const logged: string[] = []
  const logger = { level: 'error', stream: { write: (line: string) => logged.push(line) } }
  const failing: AnyErrorBody = ({ message }) => {
    throw new Error(`no body for ${message}`)
  }
  const port = await listening(t, { errorBody: failing, logger } as ServeOptions)
  const got = await httpRequest(`http://127.0.0.1:${port}/nothing`)
  t.match(got, { status: 404, body: 'no such path', headers: { 'content-type': 'text/plain; charset=utf-8' } })
  t.match(await (await openSocket(t, port, 'no request\r\n\r\n')).closed(), /^HTTP\/1.1 400 .*not well-formed HTTP$/s)
  t.match(logged[0], /no body for no such path.*errorBody failed/)
})

t.test('an error may be text, and of several media types', async (t) => {
  const mixed: AnyErrorBody = ({ statusCode, message }) =>
    statusCode === 404
      ? { contentType: 'text/html', body: `<p>${message}` }
      : { contentType: 'application/json', body: [message] }
  const port = await listening(t, { errorBody: mixed })
  for (const [target, contentType, body] of [
    ['/nothing', 'text/html; charset=utf-8', '<p>no such path'],
    ['/pots/x', 'application/json; charset=utf-8', '["path/id must be an int32 integer"]'],
    ['/nothing', 'text/html; charset=utf-8', '<p>no such path'],
  ])
    t.match(await httpRequest(`http://127.0.0.1:${port}${target}`), { body, headers: { 'content-type': contentType } })
})
