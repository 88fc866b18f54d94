import { mkdir, writeFile } from 'node:fs/promises'
import { parseExactJson, stringifyJson } from 'fastify-contract/json'
import { UsageError } from 'fastify-contract/token-command'
import { type Severity, severities } from '../changes/change-severity.ts'
import {
  type Change,
  compareVersions,
  contractChanges,
  nextVersion,
  releasedFile,
  releasedVersions,
} from '../changes/contract-changes.ts'
import { withErrorTable } from '../document/error-numbers.ts'
import type { Document } from '../document/openapi-document.ts'
import { type CompileOptions, publishedDocument } from '../emit/checked-document.ts'
import { lenientDocument } from '../passes/lenient/lenient-document.ts'
import type { OverlayOptions } from '../read/overlays/overlays.ts'
import { readDocument } from '../read/read-document.ts'
import { bundle } from '../redocly/redocly.ts'
import { RejectedDocument } from '../rules/problems.ts'
import { type Format, formats, type Summary } from './changes-formats.ts'
import { commandLine } from './command-line.ts'
import { withProgress } from './progress.ts'
import { forEachDocument, needsOne, type Output, type ProjectDocument, projectDocuments } from './project-documents.ts'
import { documentHelp } from './project-files.ts'
import { listOf } from './project-settings.ts'

/** Runs `fastify-contract changes`. */
export async function run(args: string[]): Promise<void> {
  const { options, words } = commandLine(
    `fastify-contract changes [DOCUMENT] [OPTIONS]

Lists each change of the document since the last release and the version that these changes require; exits with 1 if
info.version is lower, or if --fail-on says so.

${documentHelp}
--released DIRECTORY  the directory with a file VERSION.json for each release (default: openapi/released)
--release             store the bundled document as the latest release
--since FILE          compare with another document, such as that of another branch, instead of the last release;
                      neither info.version nor whether the document can be served matters then
--since-overlays LIST the overlays of that document, files separated by commas (default: those of DOCUMENT)
--fail-on SEVERITY    exit with 1 after a change of this severity or a higher one, whatever info.version is: breaking,
                      compatible or text
--format FORMAT       text (default), json, github: annotations of the changed lines in a pull request, or markdown: a
                      table of at most 50,000 characters
`,
    {
      release: false,
      document: undefined,
      only: undefined,
      overlays: undefined,
      'since-overlays': undefined,
      rules: undefined,
      released: 'openapi/released',
      since: undefined,
      'fail-on': undefined,
      format: 'text',
      'skip-unsupported': false,
    },
    ['DOCUMENT'],
    args,
  )
  const { only, overlays, release, since } = options
  const failOn = options['fail-on'] === undefined ? undefined : oneOf(severities, options['fail-on'], 'fail-on')
  const format = oneOf(Object.keys(formats) as Format[], options.format, 'format')
  if (release && since !== undefined)
    throw new UsageError('changes: --release stores a release, and --since compares with none')
  const documents = projectDocuments({ given: words[0] ?? options.document, only, overlays })
  for (const option of ['since', 'since-overlays'] as const)
    if (documents.length > 1 && options[option] !== undefined) throw needsOne(`--${option}`)
  await forEachDocument(documents, outputs[format], (one, print) =>
    showChanges(one, { ...options, failOn, show: (summary) => print(formats[format](summary)) }),
  )
}

/** Whether each format names the document. */
const outputs: Record<Format, Output> = { text: 'titled', github: 'titled', markdown: 'plain', json: 'json' }

/** How the changes of a document are found and shown. */
type ChangesOptions = {
  release: boolean
  released: string
  since: string | undefined
  'since-overlays': string | undefined
  rules: string | undefined
  'skip-unsupported': boolean
  failOn: Severity | undefined
  show: (summary: Summary) => void
}

/** Shows the changes of a document. Throws an Error if its version is too low for them. */
async function showChanges(
  one: ProjectDocument,
  { release, since, rules, failOn, show, ...options }: ChangesOptions,
): Promise<void> {
  const released = one.in(options.released)
  const skipUnsupported = one.skipsUnsupported(options['skip-unsupported'])
  const path = one.path()
  const publish = (file: string, overlaying: OverlayOptions) =>
    withProgress((onStep) => publishedText(file, { ...overlaying, rules, skipUnsupported, onStep }))
  const reading = { overlays: one.overlays() }
  const { text, rejection } = await publish(path, reading)
  const document = parseExactJson(text) as Document
  if (since !== undefined) {
    const overlays = options['since-overlays'] === undefined ? reading.overlays : listOf(options['since-overlays'])
    const olderReading = { overlays, insteadOf: path }
    const { text: older } = await publish(since, olderReading)
    const given = { published: parseExactJson(older) as Document, reading: olderReading }
    const changes = await compared(since, document, given)
    return report({ document: path, since, next: undefined, changes })
  }
  const { version } = document.info
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`info.version is ${version}; use MAJOR.MINOR.PATCH`)
  const last = (await releasedVersions(released)).at(-1)
  if (last === undefined && !release)
    throw new Error(`${released} holds no released document; run with --release to store the first`)
  if (last !== undefined) {
    const changes = await compared(releasedFile(released, last), document)
    const next = changes[0] === undefined ? last : nextVersion(last, changes[0].weight)
    report({ document: path, since: last, next, changes })
    if (rejection === undefined && compareVersions(version, next) < 0)
      throw new Error(`info.version is ${version}; raise it to ${next} or higher`)
  }
  if (rejection !== undefined) throw rejection
  if (!release) return
  if (version === last) throw new Error(`${version} is already released; raise info.version`)
  await mkdir(released, { recursive: true })
  const file = releasedFile(released, version)
  await writeFile(file, text)
  console.log(`wrote ${file}`)

  function compared(older: string, published: Document, given?: Older): Promise<Change[]> {
    return withProgress(async function compare(onStep) {
      onStep(`comparing with ${older}`)
      return await contractChanges(older, path, published, reading, given).catch(rejected)
    })
  }

  /** Shows changes, and sets the exit code 1 if one of them has at least the severity of --fail-on. */
  function report(summary: Summary): void {
    show(summary)
    if (failOn === undefined) return
    const isSevere = ({ weight }: Change) => severities.indexOf(weight) <= severities.indexOf(failOn)
    if (summary.changes.some(isSevere)) process.exitCode = 1
  }

  /** A document that cannot be served can be compared, unless its references or its structure are broken. */
  function rejected(error: unknown): never {
    throw rejection ?? error
  }
}

/** Returns a document as it is published, and why it cannot be served, if so. */
async function publishedText(path: string, options: CompileOptions): Promise<Published> {
  try {
    return { text: await publishedDocument(path, options), rejection: undefined }
  } catch (rejection) {
    if (!(rejection instanceof RejectedDocument)) throw rejection
    const { mended } = lenientDocument(
      await bundle(
        path,
        options.rules,
        await readDocument(path, { overlays: options.overlays, insteadOf: options.insteadOf }),
      ),
    )
    return { text: stringifyJson(withErrorTable(mended)) as string, rejection }
  }
}

/** An older document that is no release. */
type Older = NonNullable<Parameters<typeof contractChanges>[4]>

type Published = { text: string; rejection: RejectedDocument | undefined }

/** Returns the value of an option. Throws a UsageError if it is not one of the expected ones. */
function oneOf<Value extends string>(expected: Value[], text: string, option: string): Value {
  const value = expected.find((each) => each === text)
  if (value !== undefined) return value
  throw new UsageError(`changes: --${option} is ${JSON.stringify(text)}; expected ${expected.join(', ')}`)
}
