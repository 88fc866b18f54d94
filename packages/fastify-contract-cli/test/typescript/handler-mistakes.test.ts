import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { diagnosticsOf } from 'fastify-contract-test-support/compiler'
import t from 'tap'
import ts from 'typescript'
import { parse } from 'yaml'
import { compileDocument } from '../../src/emit/compile.ts'
import { compilerOptions } from '../../src/init/project.ts'
import { ownPath } from '../support/own-path.ts'

const page = readFileSync(new URL('../docs/handler-messages.md', import.meta.resolve('fastify-contract')), 'utf8')
const [, documentText = ''] = /^```yaml\n(.*?)^```/ms.exec(page) ?? []
const [, shown = ''] = /^```ts\n.*?\n\n?(export const handlers.*?)^```/ms.exec(page) ?? []

type Row = { mistake: string; before: string; after: string; lines: string[] }

/** The rows of the table: the mistake, the text that it replaces, and the lines of the message. */
const rows = page.split('\n').flatMap(function rowOf(line): Row[] {
  const cells = line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, ''))
  const codes = (text = '') =>
    Array.from(text.matchAll(/`` (.*?) ``|`(.*?)`/g), ([, double, single]) =>
      (double ?? single ?? '').replaceAll('\\|', '|'),
    )
  const [before, after = ''] = codes(cells[1])
  if (cells.length !== 3 || before === undefined) return []
  return [{ mistake: cells[0] as string, before, after, lines: codes(cells[2]) }]
})

/** Returns a module of handlers with a mistake; an edit without a new text removes a handler. */
const withMistake = (handlers: string, { before, after }: Row): string =>
  after === ''
    ? handlers.replace(new RegExp(`^  async ${before}\\(.*?^  \\},\n`, 'ms'), '')
    : handlers.replace(before, () => after)

const compiled = await compileDocument(parse(documentText), 'pets.yaml')
const names = ['api.d.ts', 'handler-types.d.ts']
const head = "import type { Handlers } from './handler-types.d.ts'\n"

/** Matches the message about one value of another type, which stands at that value and names nothing around it. */
const isScalar = /^Type '(?:number|string)' is not assignable to type '(?:bigint|number)'\.$/

/** Returns the lines of the first message about each module, as `tsc` prints them on a terminal without the source. */
function messagesOf(texts: string[]): string[][] {
  const directory = ownPath('test/documents/handler-mistakes')
  const modules = texts.map((_, index) => join(directory, `${index}.ts`))
  const files = Object.fromEntries([
    ...names.map((name) => [join(directory, name), compiled.files[name] as string]),
    ...texts.map((text, index) => [modules[index], text]),
  ])
  const all = diagnosticsOf(modules, files, { ...compilerOptions, noUnusedParameters: false })
  return modules.map((module) => {
    const own = all.filter(({ file }) => file?.fileName === module)
    return own.slice(0, 1).flatMap(({ messageText, relatedInformation = [] }) => [
      ...ts
        .flattenDiagnosticMessageText(messageText, '\n')
        .split('\n')
        .map((line) => line.trim()),
      ...relatedInformation
        .filter(({ file }) => names.includes(basename(file?.fileName ?? '')))
        .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ')),
    ])
  })
}

t.test('the handlers of the page compile', (t) => {
  t.same(messagesOf([head + shown]), [[]])
  t.end()
})

t.test('the message of each mistake is that of the page, and has at most four lines', (t) => {
  t.ok(rows.length >= 10)
  const texts = rows.map((row) => head + withMistake(shown, row))
  for (const [index, lines] of messagesOf(texts).entries()) {
    const { mistake, before, lines: expected } = rows[index] as Row
    t.ok(shown.includes(before), mistake)
    t.same(lines, expected, mistake)
    t.ok(lines.length <= 4, mistake)
    t.match(
      lines.join('\n'),
      isScalar.test(lines[0] as string) ? /^Type/ : /GetPet|DeletePet|Handlers/,
      `${mistake} is named`,
    )
  }
  t.end()
})

t.test('without a return type, a message has at most eight lines and begins with the operation', (t) => {
  const untyped = shown.replace(/: ReturnType<.*?\]>/g, '')
  const texts = rows.map((row) => head + withMistake(untyped, row))
  const unseen: string[] = []
  for (const [index, lines] of messagesOf(texts).entries()) {
    const { mistake } = rows[index] as Row
    t.ok(lines.length <= 8, mistake)
    if (lines.length === 0) unseen.push(mistake)
    else t.match(lines[0], /GetPet|DeletePet|deletePet|Handlers/, mistake)
  }
  t.same(unseen, ['a misspelt optional property'])
  t.end()
})
