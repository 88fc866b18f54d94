import { mkdir, writeFile } from 'node:fs/promises'
import { contractChanges, nextVersion } from '../changes/contract-changes.ts'
import { compareVersions, releasedFile, releasedVersions } from '../changes/released-versions.ts'
import { compileContract } from '../compile/compile.ts'
import type { Document } from '../compile/document/openapi-document.ts'
import { commandLine } from './command-line.ts'

const { options } = commandLine(
  `npm run changes [-- --release] [--document FILE] [--released DIRECTORY]

Lists each change of the document since the last release and the version that these changes require; exits with 1 if
info.version is lower. With --release it stores the bundled document as the latest release.
`,
  { release: false, document: 'openapi/plant-store.yaml', released: 'openapi/released' },
)
const fileOf = (version: string) => releasedFile(options.released, version)

try {
  const { 'openapi.json': document = '' } = (await compileContract(options.document)).files
  const version: string = JSON.parse(document).info.version
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`info.version is ${version}; use MAJOR.MINOR.PATCH`)
  const last = (await releasedVersions(options.released)).at(-1)
  if (last !== undefined) await compareWith(last, version, JSON.parse(document))
  else if (!options.release)
    throw new Error(`${options.released} holds no released document; run with -- --release to store the first`)
  if (options.release) {
    if (version === last) throw new Error(`${version} is already released; raise info.version`)
    await mkdir(options.released, { recursive: true })
    await writeFile(fileOf(version), document)
    console.log(`wrote ${fileOf(version)}`)
  }
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}

/** Prints the changes since the last release. Rejects if the version is lower than these changes require. */
async function compareWith(last: string, version: string, published: Document): Promise<void> {
  const changes = await contractChanges(fileOf(last), options.document, published)
  for (const { place, weight, what } of changes) console.log(`${place} ${weight}: ${what}`)
  const [heaviest] = changes
  const next = heaviest === undefined ? last : nextVersion(last, heaviest.weight)
  const count = (weight: string) => `${changes.filter((change) => change.weight === weight).length} ${weight}`
  const counts = `${count('breaking')}, ${count('compatible')}, ${count('text')}`
  console.log(
    heaviest === undefined ? `no changes since ${last}` : `since ${last}: ${counts}; the next version is ${next}`,
  )
  if (compareVersions(version, next) < 0) throw new Error(`info.version is ${version}; raise it to ${next} or higher`)
}
