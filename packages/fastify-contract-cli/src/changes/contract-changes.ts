import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join as joinPaths } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { serviceErrors } from 'fastify-contract/contract'
import { parseExactJson } from 'fastify-contract/json'
import { join, keysOf, resolve } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import { withMarks } from '../read/source-copies.ts'
import { redocly } from '../redocly/redocly.ts'
import { alignUnions } from './aligned-unions.ts'
import { type Difference, type Severity, severities, severityOf } from './change-severity.ts'
import { type ComparableDocument, comparableDocument } from './comparable-document.ts'
import { withDistinctNumbers } from './distinct-numbers.ts'
import { isItem, listsIn, nameItems } from './named-items.ts'
import type { PointerMap } from './pointer-map.ts'
import { removeErrors } from './removed-errors.ts'
import { type PlaceOptions, sourcePlaces } from './source-places.ts'

/** A change. Its location is FILE:LINE:COLUMN, in the older file if something was removed. */
export type Change = { weight: Severity; place: string; what: string }

/** Returns the versions whose documents a directory holds, the oldest first; none when it does not exist. */
export async function releasedVersions(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => [])
  const versions = names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length))
  return versions.sort(compareVersions)
}

/** Returns the path of the document of a version. */
export const releasedFile = (directory: string, version: string): string => joinPaths(directory, `${version}.json`)

const { compare } = new Intl.Collator('en', { numeric: true })

/** Compares two versions MAJOR.MINOR.PATCH, for a sort that puts the oldest first. */
export const compareVersions = (one: string, other: string): number => compare(one, other)

/** A bundled document as it is published, with its table of error numbers. */
type Published = Document & { 'x-error-numbers'?: Record<string, ErrorNumber> }
type ErrorNumber = { error: number; meaning: string }

/**
 * Returns the changes between a released document and the one at `path`, whose bundled form is `published`. The most
 * severe changes come first; a change of info.version is left out. Limits: a promise in a description counts as text,
 * and overlapping branches of a oneOf are not detected.
 *
 * @param published An integer beyond 2^53 - 1 is a bigint, as `parseExactJson` returns it.
 * @param reading How the files of the document at `path` are read, for places.
 * @param given The older document, if the file `released` does not have its bundled form.
 */
export async function contractChanges(
  released: string,
  path: string,
  published: Published,
  reading: PlaceOptions = {},
  given?: { published: Published; reading: PlaceOptions },
): Promise<Change[]> {
  const originals = [given?.published ?? (parseExactJson(await readFile(released, 'utf8')) as Published), published]
  const { documents, restored } = withDistinctNumbers(originals)
  const [older, newer] = documents as [Published, Published]
  const numbers = errorNumberChanges(older, newer, path)
  const differences = (await documentDifferences(older, newer)).filter(
    ({ difference: { typeName, property }, pointer }) =>
      !(typeName === 'Info' && property === 'version') && !(numbers.length > 0 && pointer === tablePlace),
  )
  const changes = await described(differences, [older, released, given?.reading], [newer, path, reading])
  const all = [...changes.map((change) => ({ ...change, what: restored(change.what) })), ...numbers]
  return all.sort((one, other) => severities.indexOf(one.weight) - severities.indexOf(other.weight))
}

const tablePlace = '#/x-error-numbers'

type Side = [document: Document, path: string, reading: PlaceOptions | undefined]

/**
 * Returns the changes for differences. Differences of one kind at one pointer become one change, with the highest
 * severity and all reasons for it.
 */
async function described(differences: LocatedDifference[], older: Side, newer: Side): Promise<Change[]> {
  if (differences.length === 0) return []
  const [olderPlace, newerPlace] = await Promise.all([
    sourcePlaces(older[1], older[2]),
    sourcePlaces(newer[1], newer[2]),
  ])
  const heaviest = new Map<string, Change & { reasons: Set<string> }>()
  for (const { difference, pointer } of differences) {
    const { weight, why } = severityOf(difference)
    const key = `${difference.kind} ${pointer}`
    const known = heaviest.get(key)
    if (known?.weight === weight) known.reasons.add(why)
    if (known !== undefined && severities.indexOf(known.weight) <= severities.indexOf(weight)) continue
    const [[document], placeOf] = difference.revision === undefined ? [older, olderPlace] : [newer, newerPlace]
    const what = `${difference.kind} ${decodeURIComponent(existing(document, pointer))}`
    heaviest.set(key, { weight, place: placeOf(pointer), what, reasons: new Set([why]) })
  }
  const changes = new Map<string, Change>()
  for (const { weight, place, what, reasons } of heaviest.values()) {
    reasons.delete('')
    const change = { weight, place, what: reasons.size === 0 ? what : `${what}: ${[...reasons].join(' ')}` }
    // Several removed members share the location of their former parent, so equal changes are merged.
    changes.set(JSON.stringify(change), change)
  }
  return [...changes.values()]
}

/** Returns a pointer if the document has a value there, or else the pointer of the closest ancestor that exists. */
function existing(document: Document, pointer: string): string {
  const isThere = pointer === '#' || resolve(document, pointer) !== undefined
  return isThere ? pointer : existing(document, pointer.slice(0, pointer.lastIndexOf('/')))
}

/**
 * Returns the changes of the table of error numbers, which redocly diff does not compare. A document without a table
 * has the numbers of the service.
 */
function errorNumberChanges(released: Published, published: Published, path: string): Change[] {
  const { 'x-error-numbers': before = serviceErrors as Record<string, ErrorNumber> } = released
  const { 'x-error-numbers': after = serviceErrors as Record<string, ErrorNumber> } = published
  const changes: Change[] = []
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[name], after[name]]
    const place = `${path}${tablePlace}/${name}`
    if (old === undefined) changes.push({ weight: 'compatible', place, what: `added ${now?.error}` })
    else if (now?.error !== old.error) {
      const what = `removed ${old.error}: Clients tell errors apart by their numbers.`
      changes.push({ weight: 'breaking', place, what })
    } else if (now.meaning !== old.meaning)
      changes.push({ weight: 'text', place, what: `modified the meaning of ${now.error}` })
  }
  return changes
}

/** Returns the next version after changes of which the most severe is `heaviest` (semver.org, sections 6 to 8). */
export function nextVersion(version: string, heaviest: Severity): string {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  if (heaviest === 'breaking') return `${major + 1}.0.0`
  if (heaviest === 'compatible') return `${major}.${minor + 1}.0`
  return `${major}.${minor}.${patch + 1}`
}

/** A difference and its pointer: into the older document if something was removed, or else into the newer one. */
export type LocatedDifference = { difference: Difference; pointer: string }

type Report = Omit<Difference, 'directions' | 'verdicts'> & { verdicts: { ruleId: string; message: string }[] }

/**
 * Returns the differences between two bundled documents, regardless of how their schemas are composed. A difference in
 * a schema that was merged into others occurs once for each of them, with the same pointer.
 */
export async function documentDifferences(older: Document, newer: Document): Promise<LocatedDifference[]> {
  const [before, after] = pairedDocuments(older, newer)
  const removed = removeErrors(before.document, after.document).map(removedError)
  const reports = await reportsOf(before.document, after.document)
  const found: LocatedDifference[] = []
  for (const report of [...removed, ...reports.filter(({ path }) => !isItem(path))]) {
    const located = locatedDifference(report, before, after)
    if (located !== undefined) found.push(located)
  }
  return found
}

/** Returns the difference of a report with its pointer; undefined for one that is found elsewhere. */
function locatedDifference(report: Report, before: Compared, after: Compared): LocatedDifference | undefined {
  const [side, other] = report.revision === undefined ? [before, after] : [after, before]
  const found = side.pointerOf(pointerOf(report))
  const isNamed = report.kind !== 'modified' && isNamedSchema.test(found)
  // Adding or removing the name of a schema changes nothing by itself: the references to it are compared.
  if (isNamed && side.isReferredTo(found)) return undefined
  const difference = differenceOf(report)
  if (difference.directions.length === 0) {
    // A schema that is only used by being merged into others is compared there.
    if (side.isTaken(found) && severityOf(difference).weight !== 'text') return undefined
    if (isReplaced(report, before)) return undefined
  }
  const origins = side.originsOf(found)
  const isChanged = (origin: string) =>
    !isDeepStrictEqual(resolve(side.original, origin), resolve(other.original, origin))
  // A pointer that does not exist in the original was created from a discriminator.
  const isMade = (origin: string) => resolve(side.original, origin) === undefined
  const pointer = origins.find(isChanged) ?? origins.find(isMade) ?? (origins[0] as string)
  return { difference, pointer }
}

/** Returns the difference of a report, whose directions are the message of a rule. */
function differenceOf({ verdicts, ...report }: Report): Difference {
  const difference: Difference = { ...report, directions: [], verdicts: [] }
  for (const verdict of verdicts) {
    if (verdict.ruleId !== directionsRule) difference.verdicts.push(verdict)
    else if (verdict.message !== '')
      difference.directions.push(...(verdict.message.split(' ') as Difference['directions']))
  }
  return difference
}

/** Returns the report of an error response that no longer occurs. */
const removedError = (pointer: string): Report => ({
  path: pointer,
  // As redocly diff writes pointers: without percent-encoding.
  base: {
    pointer: `#${keysOf(pointer)
      .map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)
      .join('')}`,
  },
  typeName: 'Response',
  kind: 'removed',
  impact: 'minor',
  verdicts: [{ ruleId: directionsRule, message: 'response' }],
})

/**
 * Returns whether redocly diff paired a named schema of the older document with one of another name, and references led
 * to it: its changes are found where these references were.
 */
function isReplaced({ path, base }: Pick<Report, 'path' | 'base'>, before: Compared): boolean {
  const [name, other] = [base?.pointer ?? path, path].map((pointer) => schemaName.exec(pointer)?.[0])
  return name !== undefined && other !== undefined && name !== other && before.isReferredTo(join('#', ...keysOf(name)))
}

const schemaName = /^#\/components\/schemas\/[^/]+/

type Compared = ComparableDocument & {
  original: Document
  /** Returns the pointer in the comparable document, before its unions and lists were rewritten for the comparison. */
  pointerOf(pointer: string): string
}

/** Returns two comparable documents whose unions and lists were rewritten so that redocly diff pairs what belongs together. */
function pairedDocuments(...originals: [Document, Document]): [Compared, Compared] {
  const [older, newer] = originals.map(comparableDocument) as [ComparableDocument, ComparableDocument]
  const aligned = alignUnions(older.document, newer.document)
  const lists = listsIn(newer.document)
  const shared = new Set([...listsIn(older.document)].filter((pointer) => lists.has(pointer)))
  return [older, newer].map(function pairUp(comparable, index): Compared {
    const named = nameItems(comparable.document, shared)
    const [original, { get }] = [originals[index] as Document, aligned[index] as PointerMap]
    return { ...comparable, original, pointerOf: (pointer) => get(named.get(pointer)[0] as string)[0] as string }
  }) as [Compared, Compared]
}

const directionsRule = 'changes/directions'
const isNamedSchema = /^#\/components\/schemas\/[^/]+$/

/** Returns the pointer of a difference. For a removed member, redocly diff reports the pointer of its former parent. */
function pointerOf({ revision, base, property = 'key' }: Pick<Report, 'revision' | 'base' | 'property'>): string {
  const { pointer } = (revision ?? base) as NonNullable<Report['base']>
  const keys = pointer.split('/').slice(1)
  const names = keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  return join('#', ...names, ...(property === 'key' || names.at(-1) === property ? [] : [property]))
}

async function reportsOf(...documents: [Document, Document]): Promise<Report[]> {
  const directory = await mkdtemp(joinPaths(tmpdir(), 'changes-'))
  try {
    const files = ['older.json', 'newer.json'].map((name) => joinPaths(directory, name))
    const config = joinPaths(import.meta.dirname, '..', 'changes', 'redocly.yaml')
    const report = await withMarks(documents, async function compareMarked(marked) {
      await Promise.all(files.map((file, index) => writeFile(file, JSON.stringify(marked[index]))))
      return await redocly(['diff', ...files, `--config=${config}`, '--format=json', '--fail-on=none'])
    })
    return JSON.parse(report).changes
  } finally {
    await rm(directory, { recursive: true })
  }
}
