import { mkdir, writeFile } from 'node:fs/promises'
import { stringifyJson } from 'fastify-contract/json'
import type { Severity } from '../changes/change-severity.ts'
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
import { compileContract } from '../emit/compile.ts'
import { lenientDocument } from '../passes/lenient/lenient-document.ts'
import { bundle } from '../redocly/redocly.ts'
import { RejectedDocument } from '../rules/problems.ts'
import { visible } from '../text/source-text.ts'
import { commandLine } from './command-line.ts'
import { documentHelp, findDocument, skipsUnsupported } from './project-files.ts'

/** Runs `fastify-contract changes`. */
export async function run(args: string[]): Promise<void> {
  const { options, words } = commandLine(
    `fastify-contract changes [DOCUMENT] [OPTIONS]

Lists each change of the document since the last release and the version that these changes require; exits with 1 if
info.version is lower, or if --fail-on says so.

${documentHelp}
--released DIRECTORY  the directory with a file VERSION.json for each release (default: openapi/released)
--release             store the bundled document as the latest release
--fail-on SEVERITY    exit with 1 after a change of this severity or a higher one, whatever info.version is: breaking,
                      compatible or text
--format FORMAT       text (default), json, or github: annotations of the changed lines in a pull request
`,
    {
      release: false,
      document: undefined,
      rules: undefined,
      released: 'openapi/released',
      'fail-on': undefined,
      format: 'text',
      'skip-unsupported': skipsUnsupported(),
    },
    ['DOCUMENT'],
    args,
  )
  const { release, released, format, 'fail-on': failOn } = options
  if (failOn !== undefined && !isSeverity(failOn)) return refuse('fail-on', failOn, severities)
  if (!isFormat(format)) return refuse('format', format, Object.keys(formats))
  const path = findDocument(words[0] ?? options.document)
  const compiling = compileContract(path, { rules: options.rules, skipUnsupported: options['skip-unsupported'] })
  let text: string
  let rejection: RejectedDocument | undefined
  try {
    text = (await compiling).files['openapi.json'] as string
  } catch (error) {
    if (!(error instanceof RejectedDocument)) throw error
    rejection = error
    text = stringifyJson(withErrorTable(lenientDocument(await bundle(path, options.rules)).mended)) as string
  }
  const document: Document = JSON.parse(text)
  const { version } = document.info
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`info.version is ${version}; use MAJOR.MINOR.PATCH`)
  const last = (await releasedVersions(released)).at(-1)
  if (last === undefined && !release)
    throw new Error(`${released} holds no released document; run with --release to store the first`)
  if (last !== undefined) {
    const changes = contractChanges(releasedFile(released, last), path, document)
    // A document that cannot be served can be compared, unless its references or its structure are broken.
    const found = await changes.catch((error) => Promise.reject(rejection ?? error))
    const next = printChanges(last, found, format)
    if (failOn !== undefined && found.some(({ weight }) => severities.indexOf(weight) <= severities.indexOf(failOn)))
      process.exitCode = 1
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
}

const severities: Severity[] = ['breaking', 'compatible', 'text']
const isSeverity = (text: string): text is Severity => (severities as string[]).includes(text)

/** Reports the value of an option that is not one of the expected ones, as an invalid command line. */
function refuse(option: string, text: string, expected: string[]): void {
  process.stderr.write(`changes: --${option} is ${JSON.stringify(text)}; expected ${expected.join(', ')}\n`)
  process.exitCode = 2
}

/** Prints the changes since the last release, and returns the lowest version that these changes allow. */
function printChanges(last: string, changes: Change[], format: keyof typeof formats): string {
  const [heaviest] = changes
  const next = heaviest === undefined ? last : nextVersion(last, heaviest.weight)
  console.log(formats[format]({ last, next, changes }))
  return next
}

type Summary = { last: string; next: string; changes: Change[] }

const formats = {
  text({ last, next, changes }: Summary): string {
    const lines = changes.map(({ place, weight, what }) => visible(`${place} ${weight}: ${what}`))
    return [...lines, summaryOf(last, next, changes)].join('\n')
  },
  json: ({ last, next, changes }: Summary): string =>
    JSON.stringify(
      {
        since: last,
        next,
        changes: changes.map(({ place, weight, what }) => ({ severity: weight, place, change: what })),
      },
      null,
      2,
    ),
  github({ last, next, changes }: Summary): string {
    const lines = changes.map(({ place, weight, what }) => {
      const [, file = place, line = '1', column = '1'] = /^(.*):(\d+):(\d+)$/s.exec(place) ?? []
      const level = weight === 'breaking' ? 'warning' : 'notice'
      return `::${level} file=${property(file)},line=${line},col=${column},title=${weight}::${escaped(visible(what))}`
    })
    return [...lines, summaryOf(last, next, changes)].join('\n')
  },
}

const isFormat = (text: string): text is keyof typeof formats => Object.hasOwn(formats, text)

function summaryOf(last: string, next: string, changes: Change[]): string {
  if (changes.length === 0) return `no changes since ${last}`
  const counts = severities.map((name) => `${changes.filter(({ weight }) => weight === name).length} ${name}`)
  return `since ${last}: ${counts.join(', ')}; the next version is ${next}`
}

/** Returns a text as GitHub reads it in a workflow command, in which a line ends the message. */
const escaped = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

const property = (text: string): string => escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
