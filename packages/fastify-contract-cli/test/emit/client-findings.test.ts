import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { run } from '../../src/cli/lint.ts'
import { clientFindings } from '../../src/emit/client-findings.ts'
import { readDocument } from '../../src/read/read-document.ts'
import type { LintFinding } from '../../src/redocly/redocly.ts'
import { clientFeatures, clientRule } from '../../src/reports/client-features.ts'
import { enterDirectory } from '../support/enter-directory.ts'

const string = { type: 'string' }
const strings = { type: 'array', items: string }
const integers = { type: 'array', items: { type: 'integer' } }
const words = { type: 'array', items: { type: 'string', pattern: '^[a-z]{2}(?:-[a-z]+)*$' } }
const flat = { type: 'object', properties: { a: string } }
const file = { type: 'string', format: 'binary' }
const responses = { 200: { description: 'ok' } }

const ofParameter = (location: string, schema: object, more: object = {}) => {
  const isInPath = location === 'path'
  const parameter = { name: 'v', in: location, schema, ...(isInPath && { required: true }), ...more }
  return { [isInPath ? '/a/{v}' : '/a']: { get: { operationId: 'a', parameters: [parameter], responses } } }
}
const inQuery = (schema: object, more: object = {}) => ofParameter('query', schema, more)
const inJson = (schema: object) => ({
  '/a': {
    get: {
      operationId: 'a',
      parameters: [{ name: 'v', in: 'query', content: { 'application/json': { schema } } }],
      responses,
    },
  },
})
const ofBody = (mediaType: string, properties: object, required = true) => {
  const content = { [mediaType]: { schema: { type: 'object', properties } } }
  return { '/a': { post: { operationId: 'a', requestBody: { required, content }, responses } } }
}
const urlencoded = 'application/x-www-form-urlencoded'
const multipart = 'multipart/form-data'

type Name = keyof typeof clientFeatures

/** Paths that have a feature. */
const having: [name: Name, paths: object][] = [
  ['comma-list', inQuery(strings, { explode: false })],
  ['comma-list', inQuery({ type: 'array', items: { type: 'string', pattern: '^[^,]+$' } }, { explode: false })],
  ['comma-list', inQuery({ type: 'array', items: { type: 'string', pattern: '[a-z]' } }, { explode: false })],
  ['comma-list', inQuery({ type: 'array', items: { type: 'string', pattern: '^a*$' } }, { explode: false })],
  ['comma-list', inQuery({ type: 'array', items: { type: 'string', pattern: '^(?:a|b,c)$' } }, { explode: false })],
  ['comma-list', inQuery({ type: 'array', items: { type: 'string', pattern: '^a$|b' } }, { explode: false })],
  ['delimited-list', inQuery(strings, { style: 'spaceDelimited', explode: false })],
  ['delimited-list', inQuery(strings, { style: 'pipeDelimited', explode: false })],
  ['query-object', inQuery(flat)],
  ['query-object', inQuery(flat, { explode: false })],
  ['nested-object', inQuery({ type: 'object', properties: { k: strings } }, { style: 'deepObject' })],
  ['nested-object', inQuery({ type: 'array', items: flat })],
  ['json-parameter', inJson(flat)],
  ['path-list', ofParameter('path', integers)],
  ['path-list', ofParameter('path', flat)],
  ['header-list', ofParameter('header', integers)],
  ['header-object', ofParameter('header', flat)],
  ['cookie-parameter', ofParameter('cookie', string)],
  ['optional-body', ofBody('application/json', {}, false)],
  ['optional-body', ofBody(urlencoded, { a: string }, false)],
  ['form-list', ofBody(urlencoded, { l: strings })],
  ['form-list', ofBody(multipart, { l: strings, file })],
  ['form-object', ofBody(urlencoded, { o: flat })],
  ['form-without-file', ofBody(multipart, { a: string })],
]

/** Paths that every client can send. */
const sendable: object[] = [
  inQuery(strings),
  inQuery(string),
  inQuery(integers, { explode: false }),
  inQuery(words, { explode: false }),
  inQuery(integers, { style: 'spaceDelimited', explode: false }),
  inQuery(flat, { style: 'deepObject' }),
  ofParameter('path', string),
  ofParameter('header', string),
  inJson({}),
  ofBody('application/json', { o: flat, l: strings }),
  ofBody(urlencoded, { a: string, l: integers }),
  ofBody(multipart, { a: string, o: flat, files: { type: 'array', items: file } }),
  ofBody('image/png', {}, false),
]

const documentOf = (paths: object, more: object = {}) =>
  JSON.stringify({ openapi: '3.1.0', info: { title: 'A', version: '1.0.0' }, paths, ...more })

const noRules = 'extends: []\n'

/** Returns the findings about clients in documents. */
async function findingsIn(t: Test, documents: string[]): Promise<LintFinding[][]> {
  enterDirectory(t, Object.fromEntries(documents.map((document, index) => [`${index}.json`, document])))
  const found: LintFinding[][] = []
  for (const index of documents.keys()) {
    const path = `${index}.json`
    found.push(await clientFindings(path, await readDocument(path), undefined))
  }
  return found
}

t.test('there is advice against each feature that some clients cannot send', async (t) => {
  const found = await findingsIn(
    t,
    having.map(([, paths]) => documentOf(paths)),
  )
  for (const [index, [name, paths]] of having.entries()) {
    const { seen, instead } = clientFeatures[name]
    const text = JSON.stringify(paths)
    t.match(found[index], [{ ruleId: clientRule(name), severity: 'warn' }], text)
    t.equal(found[index]?.length, 1, text)
    t.ok(found[index]?.[0]?.message.endsWith(`: ${seen}; use ${instead}`), text)
    t.match(
      found[index]?.[0]?.location,
      [{ source: { ref: `${index}.json` }, start: { line: 1, col: /^[1-9]/ } }],
      text,
    )
  }
  t.same([...new Set(having.map(([name]) => name))].sort(), Object.keys(clientFeatures).sort())
})

t.test('there is no advice against what every client can send', async (t) => {
  const found = await findingsIn(
    t,
    sendable.map((paths) => documentOf(paths)),
  )
  for (const [index, paths] of sendable.entries()) t.same(found[index], [], JSON.stringify(paths))
})

/** Returns the lines about clients that the command prints for a document, with the rules of a configuration. */
async function advice(t: Test, document: string, rules: string): Promise<string[]> {
  enterDirectory(t, { 'openapi.json': document, 'redocly.yaml': rules })
  const logged = t.capture(console, 'log')
  await run(['openapi.json'])
  const lines = logged().map(({ args }) => String(args[0]))
  logged.restore()
  return lines.filter((line) => line.includes('clients/'))
}

t.test('a parameter that operations share is advised against once', async (t) => {
  const item = (operationId: string) => ({
    get: { operationId, parameters: [{ $ref: '#/components/parameters/V' }], responses },
  })
  const components = { parameters: { V: { name: 'v', in: 'cookie', schema: string } } }
  const [found = []] = await findingsIn(t, [documentOf({ '/a': item('a'), '/b': item('b') }, { components })])
  t.equal(found.length, 1)
})

t.test('a configuration switches the rules', async (t) => {
  const paths = { ...ofParameter('cookie', string), ...ofParameter('path', integers) }
  const ids = { '/a': { get: { ...Object(paths)['/a'].get, operationId: 'b' } } }
  const document = documentOf({ ...paths, ...ids })
  const { exitCode } = process
  t.teardown(() => {
    process.exitCode = exitCode
  })
  const names = (lines: string[]) => lines.map((line) => line.split(' ').slice(1, 3).join(' ')).sort()
  await t.test('off', async (t) => {
    const lines = await advice(t, document, `${noRules}rules: { clients/cookie-parameter: off }\n`)
    t.same(names(lines), ['warning clients/path-list:'])
  })
  t.equal(process.exitCode, exitCode, 'advice does not fail the command')
  await t.test('error', async (t) => {
    const rules = 'rules: { clients/cookie-parameter: error, clients/path-list: { severity: error } }\n'
    t.same(names(await advice(t, document, noRules + rules)), [
      'error clients/cookie-parameter:',
      'error clients/path-list:',
    ])
  })
  t.equal(process.exitCode, 1)
})

t.test('a document that cannot be served has no such advice', async (t) => {
  const paths = ofParameter('cookie', string)
  const unserved = { '/a': { trace: { operationId: 'a', responses } } }
  t.same(await findingsIn(t, [documentOf(paths, { openapi: '2.0.0' }), documentOf(unserved)]), [[], []])
})

t.test('docs/client-advice.md has the table', async (t) => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/client-advice.md'), 'utf8')
  const rows = Object.entries(clientFeatures).map(
    ([name, { what, seen, instead }]) => `| \`${clientRule(name as Name)}\` | ${what} | ${seen} | ${instead} |`,
  )
  t.same(
    page.split('\n').filter((line) => line.startsWith('| `clients/')),
    rows,
  )
})
