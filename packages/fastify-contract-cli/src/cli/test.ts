import { randomUUID } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Contract } from 'fastify-contract'
import { UsageError } from 'fastify-contract/token-command'
import { checks } from '../contract-test/checks/checks.ts'
import {
  type ChecksOff,
  type ContractTestResult,
  type RunOptions,
  runContractTest,
} from '../contract-test/contract-test.ts'
import { environmentSecrets } from '../contract-test/credentials/secrets.ts'
import { githubReport, withoutCommands } from '../contract-test/reports/github-report.ts'
import { jsonReport } from '../contract-test/reports/json-report.ts'
import { junitReport } from '../contract-test/reports/junit-report.ts'
import { maskedResult } from '../contract-test/reports/masked-result.ts'
import type { ReportContext } from '../contract-test/reports/report-context.ts'
import { secretMask } from '../contract-test/reports/secret-mask.ts'
import { terminalReport } from '../contract-test/reports/terminal-report.ts'
import { testedNothing } from '../contract-test/results.ts'
import { commandLine } from './command-line.ts'
import { withProgress } from './progress.ts'
import {
  documentNames,
  forEachDocument,
  needsOne,
  type ProjectDocument,
  type ProjectDocuments,
  projectDocuments,
} from './project-documents.ts'
import { onlyHelp, overlaysHelp } from './project-files.ts'
import { listOf } from './project-settings.ts'
import { operationPlaces, repeatCommand } from './test-context.ts'
import { loadApplication, type TestedApplication } from './tested-application.ts'

/** Runs a contract test of an application in this process, or of the server at a URL. */
export type ContractTest = (
  server: FastifyInstance | { url: string },
  options: RunOptions & { document: string | Contract; overlays?: string[]; below?: string },
) => Promise<ContractTestResult>

/** Runs `fastify-contract test`. */
export const run = (args: string[]): Promise<void> => runWith(runContractTest, args)

/** Runs `fastify-contract test` by another function than `runContractTest`, as tests do. */
export async function runWith(contractTest: ContractTest, args: string[]): Promise<void> {
  const { options, words } = commandLine(
    `fastify-contract test [DOCUMENT] [OPTIONS]

Sends requests that the document implies to the service: valid ones, those at the bounds of the schemas, and invalid
ones; checks each response, and prints a curl command for each failure. Tests the application of the project in this
process, which listens on a free port for requests that are cut off only, or with --url any server, in any language.
Exits with 1 after a failure, and with 2 if the test cannot run. See docs/contract-test.md for the checks, for
credentials, and for data.

DOCUMENT              the OpenAPI document, a file or a URL (default: the generated contract of the application, or
                      with --url the document as of fastify-contract generate)
${onlyHelp}
${overlaysHelp}
--app FILE            the module whose createApp, or whose default export, a plugin, is the application (default:
                      that of init)
--url URL             a running server; a path replaces the base path of the document's servers
--seed NUMBER         the same seed gives the same requests (default: 1)
--requests NUMBER     the maximum number of requests (default: 1000, or 20 for each operation if that is more)
--seconds NUMBER      the maximum time of the whole run (default: 60)
--operation LIST      only these operations, by operationId or as METHOD /path, separated by commas; may be repeated
--off LIST            checks that are turned off, separated by commas; may be repeated
--settings FILE       JSON with checks that are turned off: { "off": { OPERATION or *: { CHECK: REASON } } }
--json                print the report as JSON
--junit FILE          write the report as JUnit XML, too
--github              print annotations for GitHub, too (default in GitHub Actions)
--list-checks         print the name of each check and what it demands
`,
    {
      app: undefined,
      only: undefined,
      overlays: undefined,
      url: undefined,
      seed: undefined,
      requests: undefined,
      seconds: undefined,
      operation: undefined,
      off: undefined,
      settings: undefined,
      json: false,
      junit: undefined,
      github: process.env.GITHUB_ACTIONS === 'true',
      'list-checks': false,
    },
    ['DOCUMENT'],
    args,
    ['operation', 'off'],
  )
  if (options['list-checks']) return printChecks()
  const { app: module, only, overlays, url, operation, settings, json } = options
  const failed = ({ message }: Error): never => {
    throw new UsageError(`test: ${withoutSecrets(placed(message, settings))}`)
  }
  let application: FastifyInstance | undefined
  let isInterrupted = false
  try {
    const { documents, run, off } = await prepared().catch(failed)
    const tested = url === undefined ? await loadApplication(module, projectDocuments()).catch(failed) : undefined
    application = tested?.app
    // An instance of Fastify listens only once: each document needs that listener.
    if (documents.length > 1) await application?.listen({ host: '127.0.0.1', port: 0 }).catch(() => undefined)
    await forEachDocument(documents, json ? 'json' : 'titled', async (one, print) => {
      await testDocument(one, run, off, tested, print).catch(failed)
    })
  } finally {
    await application?.close()
    // A module may keep a connection open for which its application has no hook.
    if (url === undefined) setTimeout(() => process.exit(), closeTime).unref()
  }

  async function prepared(): Promise<Prepared> {
    if (url !== undefined && module !== undefined) throw new Error('--url and --app exclude each other; leave one out')
    const documents = projectDocuments({ given: words[0], only, overlays })
    if (documents.length > 1 && operation !== undefined) throw needsOne('--operation')
    const run = {
      seed: numberOf(options.seed, 'seed', 0),
      requests: numberOf(options.requests, 'requests', 1),
      seconds: numberOf(options.seconds, 'seconds', 1),
      operations: operation === undefined ? undefined : listOf(operation),
    }
    if (words[0] !== undefined) documents[0].path()
    return { documents, run, off: await checksOff(options.off, settings, documents) }
  }

  async function testDocument(
    one: ProjectDocument,
    run: RunOptions,
    off: Prepared['off'],
    tested: TestedApplication | undefined,
    print: (text: string) => void,
  ): Promise<void> {
    if (isInterrupted) throw new Error('the run was interrupted before this document')
    const { prefix, name } = one
    const contract = tested?.contracts.find((other) => other.name === name)?.contract
    const isGenerated = words[0] === undefined && url === undefined
    const document = (isGenerated ? contract : undefined) ?? one.path()
    const result = await testUntilSignal(contractTest, tested?.app ?? { url: String(url) }, {
      ...run,
      off: off(one),
      document,
      overlays: typeof document === 'string' ? one.overlays() : [],
      ...(prefix !== '' && { below: prefix }),
    })
    isInterrupted = result.end === 'aborted'
    const { requests, off: listed, junit, github } = options
    const repeated = { document: words[0], overlays, only: words[0] === undefined ? name : undefined }
    const context: ReportContext = {
      server: url === undefined ? 'http://127.0.0.1:3000' : new URL(url).origin,
      placeOf: await operationPlaces(one, result),
      repeat: repeatCommand({ ...repeated, app: module, url, requests, off: listed, settings }, result.seed),
    }
    if (junit !== undefined) {
      const file = one.own(junit)
      if (name !== undefined) await mkdir(dirname(file), { recursive: true })
      await writeFile(file, withoutSecrets(junitReport(result, context)))
    }
    printReports(result, context, { json, github, print })
    process.exitCode = result.failures.length > 0 ? 1 : result.end === 'aborted' || testedNothing(result) ? 2 : 0
  }
}

/** What the command line says: the documents to test, how, and the checks that are turned off for each. */
type Prepared = { documents: ProjectDocuments; run: RunOptions; off: (document: ProjectDocument) => ChecksOff }

function printReports(
  result: ContractTestResult,
  context: ReportContext,
  { json, github, print }: { json: boolean; github: boolean; print: (text: string) => void },
): void {
  if (json) print(withoutSecrets(jsonReport(result, context)).trimEnd())
  else {
    const text = withoutSecrets(terminalReport(result, context))
    process.stdout.write(github ? withoutCommands(text, randomUUID()) : text)
  }
  // GitHub reads both streams.
  if (github) (json ? process.stderr : process.stdout).write(withoutSecrets(githubReport(result, context)))
}

/** Returns a text without the values of the variables with credentials. An option, such as a URL, may have one. */
const withoutSecrets = (text: string): string => secretMask(environmentSecrets(process.env))(text)

/** Milliseconds until the process ends although the modules of an application keep it running. */
const closeTime = 1_000

/** Runs the test until it ends or SIGINT arrives, and returns its result without secrets. A second SIGINT ends all. */
async function testUntilSignal(
  contractTest: ContractTest,
  ...[server, options]: Parameters<ContractTest>
): Promise<ContractTestResult> {
  const interruption = new AbortController()
  const abort = () => interruption.abort()
  process.once('SIGINT', abort)
  try {
    const result = await withProgress((onStep) =>
      contractTest(server, {
        ...options,
        signal: interruption.signal,
        onProgress: ({ tested, operations, requests, failures }) =>
          onStep(`testing: ${tested} of ${operations} operations, ${requests} requests, ${failures} failures`),
      }),
    )
    return maskedResult(result, environmentSecrets(process.env))
  } finally {
    process.off('SIGINT', abort)
  }
}

function printChecks(): void {
  const width = Math.max(...checks.map(({ name }) => name.length))
  for (const { name, summary } of checks) console.log(`${name.padEnd(width)}  ${summary}`)
}

/** Returns the integer of an option; undefined without the option. */
function numberOf(text: string | undefined, option: string, least: number): number | undefined {
  if (text === undefined) return undefined
  const number = /^\d{1,10}$/.test(text) ? Number(text) : -1
  if (number >= least && number < 2 ** 31) return number
  throw new Error(`--${option} is ${JSON.stringify(text)}; expected an integer from ${least} to 2147483647`)
}

/**
 * Returns a function that returns the checks which options turn off for a document. The settings of several documents are
 * members with their names. The run validates the names of the checks.
 */
async function checksOff(
  list: string | undefined,
  settings: string | undefined,
  [first]: ProjectDocuments,
): Promise<(document: ProjectDocument) => ChecksOff> {
  const all = settings === undefined ? {} : await settingsOf(settings)
  const given = Object.fromEntries(listOf(list).map((check) => [check, 'turned off by --off']))
  const place = settings ?? ''
  if (first.name === undefined) {
    const { off = {} } = checkedMembers(all, ['off'], place) as { off?: ChecksOff }
    return () => withGiven(off)
  }
  const byName = checkedMembers(all, documentNames(), place)
  return ({ name = '' }) => {
    const own = Object.hasOwn(byName, name) ? Object(byName[name]) : {}
    const { off = {} } = checkedMembers(own, ['off'], `${place}, ${name}`) as { off?: ChecksOff }
    return withGiven(off)
  }

  function withGiven(off: ChecksOff): ChecksOff {
    return { ...off, '*': { ...off['*'], ...given } }
  }
}

/** Returns an object of settings. Throws an Error if it has a member that is not expected. */
function checkedMembers(given: Record<string, unknown>, expected: string[], place: string): Record<string, unknown> {
  const unknown = Object.keys(given).find((name) => !expected.includes(name))
  if (unknown === undefined) return given
  const names = expected.map((name) => JSON.stringify(name)).join(', ')
  throw new Error(`${place}: unknown member ${JSON.stringify(unknown)}; expected ${names}`)
}

async function settingsOf(path: string): Promise<Record<string, unknown>> {
  const text = await readFile(path, 'utf8').catch(({ message }: Error) => {
    throw new Error(`--settings: ${path} cannot be read: ${message}`)
  })
  try {
    return Object(JSON.parse(text))
  } catch (error) {
    const { message } = error as SyntaxError
    const [, position = text.length] = /\bposition (\d+)/.exec(message) ?? []
    const lines = text.slice(0, Number(position)).split('\n')
    throw new Error(`${path}:${lines.length}:${String(lines.at(-1)).length + 1}: ${message}; correct the JSON`)
  }
}

/** Returns a message about checks that are turned off with the file that does so. */
const placed = (message: string, settings: string | undefined): string =>
  settings !== undefined && message.startsWith('off') ? `${settings}: ${message}` : message
