import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { parseExactJson } from 'fastify-contract/json'
import { commandLine } from '../../scripts/system/command-line.ts'
import { writeDocuments } from './documents.ts'
import { type Build, type BuildContext, type Built, type Case, type Line, NotAvailable } from './driver.ts'
import { judge, type Result, textOf, type Verdict, withoutPath } from './judge.ts'
import { writePage } from './page.ts'
import { keyOf, startRecorder } from './recorder.ts'
import { startReference, writeReferenceProject } from './reference-project.ts'
import { merge, type Results, readVerdicts, writeVerdicts } from './verdicts.ts'

const versions: Record<string, Record<string, string>> = JSON.parse(readFileSync('test/clients/versions.json', 'utf8'))
const cases: Case[] = JSON.parse(readFileSync('test/clients/cases.json', 'utf8'))

const { options, words } = commandLine(
  `.ci/nightly clients [NAME...] [--work DIRECTORY] [--results FILE] [--write] [--twice] [--page]

Sends the calls of test/clients/cases.json by clients of other projects, most of them generated, to a service that init
writes for test/clients/everything.yaml. Compares what arrives and what comes back with what was meant, and prints a
line for each call that differs. Without a NAME, runs each client of test/clients/drivers. Exits with 1 if a client does
not run, or with --twice if the runs differ, and with 2 if this machine lacks a program.

--work DIRECTORY  install and build in this directory, and keep it (default: a temporary one)
--results FILE    write the results into a file of JSON, which keeps those of clients that do not run
--write           write the verdicts into test/clients/verdicts.json, which keeps those of clients that do not run, and
                  the tables of packages/fastify-contract-cli/docs/clients.md
--twice           run each client twice, and compare the results
--page            only write the tables of that page from the verdicts
`,
  { work: '', results: '', write: false, twice: false, page: false },
  Object.keys(versions),
)

if (options.page) {
  await writePage(readVerdicts())
  process.exit()
}

const work = options.work === '' ? mkdtempSync(join(tmpdir(), 'clients-')) : resolve(options.work)
mkdirSync(work, { recursive: true })
process.on('exit', () => {
  if (options.work === '') rmSync(work, { recursive: true, force: true, maxRetries: 5 })
})

/** The settings of the npm that runs this must not reach other programs. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_|^INIT_CWD$/.test(name)),
)

async function run(cwd: string, program: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const settings = { cwd, env: { ...environment, ...env }, timeout: 1_200_000, maxBuffer: 2 ** 26 }
  const { stdout, stderr } = await promisify(execFile)(program, args, settings).catch((error) => {
    throw new Error(`${program} ${args.join(' ')} failed: ${error.message}\n${error.stdout}${error.stderr}`)
  })
  return stdout + stderr
}

const token = cases
  .flatMap(({ credentials }) => Object.values(credentials ?? {}))
  .find((each) => typeof each === 'string')
const documents = writeDocuments(work)
const casesFile = resolve('test/clients/cases.json')
const reference = join(work, 'reference')
const recorder = await startRecorder(cases)
await writeReferenceProject(reference, cases, (program, args) => run('.', program, args))
const { service, port } = await startReference(reference, recorder.controlUrl, token as string)
recorder.target.port = port

const old: Results = options.results !== '' && existsSync(options.results) ? readResults(options.results) : {}
const results: Results = {}
let status = 0
for (const name of words.length > 0 ? words : Object.keys(versions)) {
  try {
    const built = await buildClient(name)
    const first = await runClient(name, built)
    if (options.twice && textOf(first) !== textOf(await runClient(name, built))) {
      process.stdout.write(`${name}: the second run differs from the first\n`)
      status = 1
    }
    results[name] = { versions: versions[name] ?? {}, cases: first }
    print(name, first)
  } catch (error) {
    const isUnavailable = error instanceof NotAvailable
    process.stdout.write(`${name}: ${isUnavailable ? 'not run: needs' : 'failed:'} ${(error as Error).message}\n`)
    status ||= isUnavailable ? 2 : 1
  }
}
const names = Object.keys(versions)
if (options.results !== '') {
  const known = { ...old, ...results }
  const all = names.flatMap((name) => (name in known ? [[name, known[name]]] : []))
  mkdirSync(dirname(resolve(options.results)), { recursive: true })
  writeFileSync(options.results, `${JSON.stringify(Object.fromEntries(all), writable, 1)}\n`)
}
if (options.write) {
  const verdicts = merge(readVerdicts(), results, names, cases.map(keyOf))
  writeVerdicts(verdicts)
  await writePage(verdicts)
}
recorder.close()
const { stdout } = await service.stop()
writeFileSync(join(work, 'service.log'), stdout)
process.exitCode = status

/** Installs and builds a client in a directory of its own. */
async function buildClient(name: string): Promise<Built> {
  const directory = join(work, name)
  mkdirSync(directory, { recursive: true })
  const file = readdirSync('test/clients/drivers').find((each) => each === `${name}.ts` || each === `${name}.js`)
  if (file === undefined) throw new Error(`test/clients/drivers has no ${name}.ts or ${name}.js`)
  const { build }: { build: Build } = await import(`./drivers/${file}`)
  const own = versions[name] ?? {}
  const context: BuildContext = {
    directory,
    ...documents,
    casesFile,
    cases,
    versions: own,
    documentsWithout: (operations) => writeDocuments(directory, operations),
    run: (program, args, { env, cwd } = {}) => run(cwd ?? directory, program, args, env),
    async npmInstall() {
      const dependencies = Object.fromEntries(Object.entries(own).filter(([, version]) => /^\d/.test(version)))
      const manifest = JSON.stringify({ private: true, type: 'module', dependencies })
      writeFileSync(join(directory, 'package.json'), manifest)
      await run(directory, 'npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'])
    },
  }
  return build(context)
}

/** Runs a client through all cases. Returns the results by `OPERATION/CASE`. */
async function runClient(name: string, { command, env, missing = {} }: Built): Promise<Record<string, Result>> {
  const [program = '', ...args] = command
  recorder.seen.clear()
  const output = await run(join(work, name), program, [...args, casesFile, recorder.baseUrl, recorder.controlUrl], env)
  const lines = new Map<string, Line>()
  for (const text of output.split('\n')) {
    if (!text.startsWith('{"')) continue
    const line = parseExactJson(text) as Line
    lines.set(keyOf(line), line)
  }
  return Object.fromEntries(
    cases.map((each) => {
      const key = keyOf(each)
      const judged = judge(each, lines.get(key), recorder.seen.get(key), missing[each.operation])
      return [key, withoutPath(judged, work)]
    }),
  )
}

function readResults(file: string): Results {
  return JSON.parse(readFileSync(file, 'utf8'))
}

function print(name: string, judged: Record<string, Result>): void {
  const counts: Partial<Record<Verdict, number>> = {}
  for (const [key, { verdict, wire, arrived, returned, message }] of Object.entries(judged)) {
    counts[verdict] = (counts[verdict] ?? 0) + 1
    if (verdict === 'right') continue
    const details = { ...(message !== undefined && { message }), ...(arrived !== undefined && { arrived }) }
    const json = JSON.stringify({ ...details, ...(returned !== undefined && { returned }), wire }, writable)
    process.stdout.write(`${name}: ${key}: ${verdict} ${json}\n`)
  }
  const all = Object.entries(counts).map(([verdict, count]) => `${count} ${verdict}`)
  process.stdout.write(`${name}: ${all.join(', ')}\n`)
}

function writable(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
