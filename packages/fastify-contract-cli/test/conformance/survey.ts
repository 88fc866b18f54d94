import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, parseDocument } from 'yaml'
import { commandLine } from '../../src/cli/command-line.ts'
import { resolve as valueAt } from '../../src/document/json-pointer.ts'
import { methods } from '../../src/document/walk-document.ts'
import type { Outcome } from './survey-document.ts'
import { oddities, surveyReport } from './survey-report.ts'

/** A document of a public repository. */
type Listed = { group: string; repository: string; commit: string; path: string }

/** A document and what an engine makes of it. */
export type Measured = Outcome & { group: string; file: string; operations: number }

const here = fileURLToPath(new URL('.', import.meta.url))
const { options, words } = commandLine(
  `survey.ts [--list FILE] [--engine DIRECTORY] [--results FILE] DIRECTORY

Compiles the documents of a list, whose files are in DIRECTORY/OWNER__NAME/PATH. Prints how many documents and
operations are served, and which kinds of problems cost the others. A problem that costs a document costs all its
operations. Documents that are not in DIRECTORY are left out.

--list FILE         list of documents; default: surveyed-documents.yaml beside this script
--engine DIRECTORY  package whose source compiles them; default: this one
--results FILE      results, one line of JSON for each document; documents that the file has are not compiled again
`,
  { list: join(here, 'surveyed-documents.yaml'), engine: join(here, '../..'), results: '' },
  ['DIRECTORY'],
)
const directory = resolve(words[0] ?? '.')
const known = new Map<string, Measured>()
if (existsSync(options.results))
  for (const line of readFileSync(options.results, 'utf8').split('\n').filter(Boolean)) {
    const measured: Measured = JSON.parse(line)
    known.set(measured.file, measured)
  }
const all: Measured[] = []
for (const { group, repository, path } of parse(readFileSync(options.list, 'utf8')) as Listed[]) {
  const file = join(repository.replace('/', '__'), path)
  if (!known.has(file) && !existsSync(join(directory, file))) continue
  const measured = known.get(file) ?? measure(group, file)
  if (options.results !== '' && !known.has(file)) appendFileSync(options.results, `${JSON.stringify(measured)}\n`)
  all.push(measured)
}
const lines: string[] = []
for (const group of new Set(all.map((one) => one.group))) {
  const documents = all.filter((one) => one.group === group)
  lines.push(...surveyReport(`group ${group}`, documents))
}
lines.push(...surveyReport('all', all), ...oddities(all))
process.stdout.write(lines.map((line) => `${line}\n`).join(''))

/** Compiles a document in a process of its own, in a directory without a configuration of the linter. */
function measure(group: string, file: string): Measured {
  const path = join(directory, file)
  const args = [join(here, 'survey-document.ts'), resolve(options.engine), path]
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), ...args],
    { cwd: tmpdir(), encoding: 'utf8', timeout: 120_000, killSignal: 'SIGKILL', maxBuffer: 2 ** 30 },
  )
  const none = { isWhole: false, served: 0, warnings: 0, problems: [], milliseconds: 0, megabytes: 0 }
  const crash = `exit code ${status}, signal ${signal}: ${stderr.slice(-2_000)}`
  const outcome: Outcome = status === 0 ? JSON.parse(stdout.trim().split('\n').at(-1) as string) : { ...none, crash }
  const operations = operationsIn(path)
  process.stderr.write(`${file}: ${outcome.served} of ${operations} operations\n`)
  return { group, file, operations, ...outcome }
}

/** Returns the number of operations of a document, without the engine's reader. */
function operationsIn(path: string): number {
  const { $ref, ...paths } = Object(read(path)).paths ?? {}
  const file = typeof $ref === 'string' ? resolve(dirname(path), $ref) : path
  const items = typeof $ref === 'string' ? Object(read(file)) : paths
  const names = Object.keys(items).filter((name) => !name.startsWith('x-'))
  return names.reduce((total, name) => total + operationsOf(items[name], file), 0)
}

function operationsOf(item: unknown, file: string, depth = 0): number {
  const { $ref, additionalOperations, ...own } = Object(item)
  const named = methods.filter((method) => own[method] !== undefined).length
  const count = named + Object.keys(Object(additionalOperations)).length
  if (typeof $ref !== 'string' || depth > 9) return count
  const [target = '', pointer = ''] = $ref.split('#')
  const next = target === '' ? file : resolve(dirname(file), decodeURIComponent(target))
  return count + operationsOf(valueAt(read(next) as object, `#${pointer}`), next, depth + 1)
}

/** Returns the value of a file, as far as it can be read; undefined if there is none. */
function read(file: string): unknown {
  if (!existsSync(file)) return undefined
  const text = readFileSync(file, 'utf8')
  return parseDocument(text, { merge: true, uniqueKeys: false, logLevel: 'silent' }).toJS({ maxAliasCount: -1 })
}
