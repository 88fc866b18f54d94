import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join as joinPaths, relative, resolve } from 'node:path'
import { join, keysOf } from './document/json-pointer.ts'
import { isUrl } from './read/named-url.ts'
import type { Source } from './read/read-source.ts'
import { copyFor, type Edits, isUnchanged, newMark, noEdits, withoutMarks } from './read/source-copies.ts'
import type { Sources } from './read/source-files.ts'
import type { LintFinding, LintLocation } from './redocly.ts'

/**
 * Runs Redocly on the files of a document. Redocly follows whatever looks like a reference, also to another host, and
 * does not find the target of each. So a document is copied if Redocly would read it otherwise than `readSources`: with
 * references to its files, and with other names for data that looks like a reference. A document is also copied, as
 * JSON, if Redocly cannot parse it. The result, which must be JSON, names the files of the document itself.
 *
 * @param run What runs Redocly; `isCopy` tells it that the files have no places of the document.
 */
export async function onFiles<Result>(
  sources: Sources,
  run: (path: string, isCopy: boolean) => Promise<Result>,
): Promise<Result> {
  const mark = newMark()
  const editsOf = (file: string) => sources.edits.get(file) as Edits
  const isSame = ([file, source]: [string, Source | undefined]) =>
    isUnchanged(editsOf(file), mark) && source?.hasMerges !== true && !isUrl(file)
  const files = [...sources.files]
  if (files.every(isSame)) {
    try {
      return await run(sources.path, false)
    } catch (error) {
      if (!/^Failed to parse /m.test((error as Error).message)) throw error
    }
  }
  const directory = await mkdtemp(joinPaths(tmpdir(), 'openapi-'))
  try {
    // The copy keeps the depth of each file, so that references above the directory of the document lead to files.
    const copyOf = (file: string) => joinPaths(directory, isUrl(file) ? 'openapi.json' : file)
    for (const [file, source] of files) {
      const copy = copyOf(file)
      await mkdir(dirname(copy), { recursive: true })
      // Finding a place also finds duplicate keys of JSON, which the copy does not have.
      source?.placeOf([])
      if (source === undefined) await copyFile(file, copy)
      else await writeFile(copy, JSON.stringify(copyFor(source.value, editsOf(file), mark)))
    }
    const [root = ''] = sources.files.keys()
    const result = withoutMarks(JSON.stringify(await run(copyOf(root), true)), mark)
    if (isUrl(root)) return JSON.parse(result.replaceAll(relative('.', copyOf(root)), root))
    const own = relative('.', joinPaths(directory, resolve('.')))
    return JSON.parse(result.replaceAll(`${own}/`, '').replaceAll(relative('.', directory), relative('.', '/')))
  } finally {
    await rm(directory, { recursive: true })
  }
}

/** Returns the findings of the linter in copies, with their places in the files of the document. */
export function withPlaces(findings: LintFinding[], sources: Sources): LintFinding[] {
  const placed = (location: LintLocation): LintLocation => {
    const { source, pointer = '#', reportOnKey } = location
    const file = sources.files.get(isUrl(source.ref) ? source.ref : resolve(source.ref))
    return file === undefined ? location : { ...location, start: file.placeOf(keysOf(pointer), reportOnKey) }
  }
  return findings
    .filter((finding) => !isOfMark(finding, sources))
    .map(({ from, ...finding }) => ({
      ...finding,
      location: finding.location.map(placed),
      ...(from !== undefined && { from: placed(from) }),
    }))
}

/**
 * Returns whether a finding is about data that has other names in the copy, so that an example may seem to lack a member,
 * and an extension to have a wrong value.
 */
function isOfMark({ ruleId, location: [at] }: LintFinding, sources: Sources): boolean {
  if (at?.pointer === undefined) return false
  const { source, pointer } = at
  const { data } = sources.edits.get(isUrl(source.ref) ? source.ref : resolve(source.ref)) ?? noEdits()
  const place = join('#', ...keysOf(pointer))
  return [...data].some((member) => {
    const holder = member.slice(0, member.lastIndexOf('/'))
    return place === holder || place === member || (ruleId.includes('example') && holder.startsWith(`${place}/`))
  })
}
