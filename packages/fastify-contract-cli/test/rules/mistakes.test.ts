import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Compiled, compileContract } from '../../src/emit/compile.ts'
import { RejectedDocument } from '../../src/rules/problems.ts'
import { refusalLines } from '../support/refusal.ts'

/*
 * Each file in mistakes/ is a document with one mistake; a document of several files is a folder with an openapi.yaml.
 * The comment at its top has the grade and the complete messages:
 *
 *     # served, advice, refused (only the operations with the mistake) or refused as a whole
 *     #   POINTER: TEXT
 *
 * In JSON, they begin with two slashes.
 * `tap --snapshot` writes these comments as they are today; review the difference.
 *
 * A file without the path /health has only what matters, and `complete` adds the rest.
 */
const directory = join(import.meta.dirname, 'mistakes')
const copies = t.testdir()
cpSync(directory, copies, { recursive: true })
process.chdir(copies)

/** The operation of a document without paths: its body is the schema Order, if the document describes that. */
const addOrder = `paths:
  /orders:
    post:
      operationId: addOrder
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Order' } } } }
      responses: { 204: { description: Done. } }
`
const listOrders = `paths:
  /orders: { get: { operationId: listOrders, responses: { 204: { description: Done. } } } }
`

/** A path without a mistake. */
const health = '/health: { get: { operationId: getHealth, responses: { 204: { description: The service is up. } } } }'

/** Matches the comment with the expectation, after a byte order mark. */
const expectation = /^(\uFEFF?)(#|\/\/)( (?:served|advice|refused|refused as a whole)\r?\n(?:\2 {3}.*\r?\n)*)/

/** Matches the place of a message in a file of the document. */
const place = / \(([\w./-]+):\d+:\d+\)$/

const documents = readdirSync('.').map((name) => (statSync(name).isDirectory() ? `${name}/openapi.yaml` : name))

for (const path of documents)
  t.test(path, async (t) => {
    const text = readFileSync(join(directory, path), 'utf8')
    writeFileSync(path, complete(text))
    const { grade, lines, compiled } = await outcomeOf(path)
    const isWhole = grade === 'refused as a whole'
    // What cannot be parsed has its place first.
    const texts = lines.map((line) => line.replace(place, '').replace(/^([\w./-]+):\d+:\d+: /, '$1: '))
    const [given = '', mark = '', sign = '#', rest = ''] = expectation.exec(text) ?? []
    const header = [grade, ...texts.map((text) => `  ${text}`)].map((line) => `${sign} ${line}\n`).join('')
    if (process.env.TAP_SNAPSHOT === '1') {
      const written = rest.includes('\r\n') ? header.replaceAll('\n', '\r\n') : header
      writeFileSync(join(directory, path), mark + written + text.slice(given.length))
    } else t.equal((sign + rest).replaceAll('\r\n', '\n'), header, 'has the grade and the messages at its top')
    if (!path.includes('/') && !isWhole)
      for (const line of lines) t.equal(place.exec(line)?.[1], path, `${line} names its place`)
    if (isWhole) await t.rejects(compileContract(path, { skipUnsupported: true }), 'no part of it is served')
    else if (compiled === undefined) checkServed(t, await compileContract(path, { skipUnsupported: true }), texts)
    else checkServed(t, compiled, [])
  })

/** Returns a document with the version 3.1.0, the info, the paths and the fields of an operation that it leaves out. */
function complete(text: string): string {
  if (text.includes('/health') || text.includes('<html>')) return text
  const version = /^openapi:/m.test(text) ? '' : 'openapi: 3.1.0\n'
  const info = 'info: { title: Orders, version: 1.0.0 }\n'
  const missing = /\bOrder:/.test(text) ? addOrder : listOrders
  const whole = /^paths:/m.test(text) ? text.replace(operation, withFields) : text + missing
  return whole
    .replace(/^paths:\n/m, () => `${version}${info}paths:\n  ${health}\n`)
    .replace(/^paths: \{ /m, () => `${version}${info}paths: { ${health}, `)
}

/** Matches the beginning of the first operation, in block or flow style. */
const operation = /^( {4}|(?:paths: \{| ) \/\S+: \{ )(get|post):( \{ |\n)/m

function withFields(start: string, _: string, method: string, end: string, _offset: number, text: string): string {
  const id = text.includes('operationId:') ? [] : [`operationId: ${method === 'get' ? 'listOrders' : 'addOrder'}`]
  const responses = text.includes('responses:') ? [] : ['responses: { 204: { description: Done. } }']
  return start + [...id, ...responses].map((field) => (end === '\n' ? `      ${field}\n` : `${field}, `)).join('')
}

type Outcome = { grade: string; lines: string[]; compiled?: Compiled }

/** Returns the grade of a document, its messages, and what is made of it unless it is refused. */
async function outcomeOf(path: string): Promise<Outcome> {
  try {
    const compiled = await compileContract(path)
    const lines = compiled.warnings
    return { grade: lines.length === 0 ? 'served' : 'advice', lines, compiled }
  } catch (error) {
    if (!(error instanceof RejectedDocument)) return { grade: 'refused as a whole', lines: [(error as Error).message] }
    const isWhole = error.problems.some(({ operations }) => operations.length === 0)
    return { grade: isWhole ? 'refused as a whole' : 'refused', lines: refusalLines(error).slice(1) }
  }
}

/** Checks that the operations without a mistake are served, and that the others are listed with their reasons. */
function checkServed(t: Test, { routes, files, warnings }: Compiled, reasons: string[]): void {
  const skipped: { operation: string; reasons: string[] }[] = JSON.parse(files['skipped-operations.json'] ?? '[]')
  t.same([...new Set(skipped.flatMap((one) => one.reasons))].sort(), [...reasons].sort())
  t.ok(
    routes.operations.some(({ operationId }) => operationId === 'getHealth'),
    'the other operation is served',
  )
  t.ok(routes.operations.length + skipped.length > 1)
  if (reasons.length > 0) t.same(warnings, [], 'it has no other mistake')
}
