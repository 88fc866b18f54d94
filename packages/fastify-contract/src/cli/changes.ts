import { mkdir, writeFile } from 'node:fs/promises'
import {
  type Change,
  compareVersions,
  contractChanges,
  nextVersion,
  releasedFile,
  releasedVersions,
} from '../changes/contract-changes.ts'
import { compileContract } from '../compile/compile.ts'
import { withErrorTable } from '../compile/document/error-numbers.ts'
import { lenientDocument } from '../compile/lenient/lenient-document.ts'
import type { Document } from '../compile/document/openapi-document.ts'
import { bundle } from '../compile/redocly.ts'
import { RejectedDocument } from '../compile/rules/problems.ts'
import { visible } from '../compile/text/source-text.ts'
import { commandLine } from './command-line.ts'
import { documentHelp, findDocument } from './project-files.ts'

/** Runs `fastify-contract changes`. */
export async function run(args: string[]): Promise<void> {
  const { options, words } = commandLine(
    `fastify-contract changes [DOCUMENT] [OPTIONS]

Lists each change of the document since the last release and the version that these changes require; exits with 1 if
info.version is lower.

${documentHelp}
--released DIRECTORY  the directory with a file VERSION.json for each release (default: openapi/released)
--release             store the bundled document as the latest release
`,
    {
      release: false,
      document: undefined,
      rules: undefined,
      released: 'openapi/released',
      'skip-unsupported': false,
    },
    ['DOCUMENT'],
    args,
  )
  const { release, released } = options
  const path = findDocument(words[0] ?? options.document)
  const compiling = compileContract(path, { rules: options.rules, skipUnsupported: options['skip-unsupported'] })
  const { text, rejection } = await compiling.then(
    ({ files }) => ({ text: files['openapi.json'] as string, rejection: undefined }),
    async (rejection) => {
      if (!(rejection instanceof RejectedDocument)) throw rejection
      return {
        text: JSON.stringify(withErrorTable(lenientDocument(await bundle(path, options.rules)).mended)),
        rejection,
      }
    },
  )
  const document: Document = JSON.parse(text)
  const { version } = document.info
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`info.version is ${version}; use MAJOR.MINOR.PATCH`)
  const last = (await releasedVersions(released)).at(-1)
  if (last === undefined && !release)
    throw new Error(`${released} holds no released document; run with --release to store the first`)
  if (last !== undefined) {
    const changes = contractChanges(releasedFile(released, last), path, document)
    // A document that cannot be served can be compared, unless its references or its structure are broken.
    const next = printChanges(last, await changes.catch((error) => Promise.reject(rejection ?? error)))
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

/** Prints the changes since the last release, and returns the lowest version that these changes allow. */
function printChanges(last: string, changes: Change[]): string {
  for (const { place, weight, what } of changes) console.log(visible(`${place} ${weight}: ${what}`))
  const [heaviest] = changes
  if (heaviest === undefined) {
    console.log(`no changes since ${last}`)
    return last
  }
  const next = nextVersion(last, heaviest.weight)
  const count = (weight: string) => `${changes.filter((change) => change.weight === weight).length} ${weight}`
  const counts = `${count('breaking')}, ${count('compatible')}, ${count('text')}`
  console.log(`since ${last}: ${counts}; the next version is ${next}`)
  return next
}
