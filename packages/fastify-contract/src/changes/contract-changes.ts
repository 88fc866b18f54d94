import { readFile } from 'node:fs/promises'
import { resolve } from '../compile/json-pointer.ts'
import type { Document } from '../compile/openapi-document.ts'
import { serviceErrors } from '../compile/service-errors.ts'
import { type Severity, severityOf } from './change-severity.ts'
import { documentDifferences, type LocatedDifference } from './document-differences.ts'
import { sourcePlaces } from './source-places.ts'

/** A change. Its place is FILE:LINE:COLUMN, in the older file if something was removed. */
export type Change = { weight: Severity; place: string; what: string }

const weights: Severity[] = ['breaking', 'compatible', 'text']

/** A bundled document as it is published, with its table of error numbers. */
type Published = Document & { 'x-error-numbers'?: Record<string, ErrorNumber> }
type ErrorNumber = { error: number; meaning: string }

/**
 * Returns the changes between a released document and the one at `path`, whose bundled form is `published`. The most
 * severe changes come first; a change of info.version is left out. Limits: a promise in a description counts as text,
 * and overlapping branches of a oneOf are not detected.
 */
export async function contractChanges(released: string, path: string, published: Published): Promise<Change[]> {
  const older: Published = JSON.parse(await readFile(released, 'utf8'))
  const numbers = errorNumberChanges(older, published, path)
  const differences = (await documentDifferences(older, published)).filter(
    ({ difference: { typeName, property }, pointer }) =>
      !(typeName === 'Info' && property === 'version') && !(numbers.length > 0 && pointer === tablePlace),
  )
  const changes = await described(differences, [older, released], [published, path])
  return changes.concat(numbers).sort((one, other) => weights.indexOf(one.weight) - weights.indexOf(other.weight))
}

const tablePlace = '#/x-error-numbers'

type Side = [document: Document, path: string]

/**
 * Returns the changes for differences. Differences of one kind at one pointer become one change, with the highest
 * severity and all reasons for it.
 */
async function described(differences: LocatedDifference[], older: Side, newer: Side): Promise<Change[]> {
  if (differences.length === 0) return []
  const [olderPlace, newerPlace] = await Promise.all([sourcePlaces(...older), sourcePlaces(...newer)])
  const heaviest = new Map<string, Change & { reasons: Set<string> }>()
  for (const { difference, pointer } of differences) {
    const { weight, why } = severityOf(difference)
    const key = `${difference.kind} ${pointer}`
    const known = heaviest.get(key)
    if (known?.weight === weight) known.reasons.add(why)
    if (known !== undefined && weights.indexOf(known.weight) <= weights.indexOf(weight)) continue
    const [[document], placeOf] = difference.revision === undefined ? [older, olderPlace] : [newer, newerPlace]
    const what = `${difference.kind} ${decodeURIComponent(existing(document, pointer))}`
    heaviest.set(key, { weight, place: placeOf(pointer), what, reasons: new Set([why]) })
  }
  const changes = Array.from(heaviest.values(), ({ weight, place, what, reasons }) => {
    const why = [...reasons].filter((reason) => reason !== '').join(' ')
    return { weight, place, what: why === '' ? what : `${what}: ${why}` }
  })
  // Several removed members share the place of their former parent, so equal changes are merged.
  return [...new Map(changes.map((change) => [JSON.stringify(change), change])).values()]
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
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.flatMap((name): Change[] => {
    const [old, now] = [before[name], after[name]]
    const place = `${path}${tablePlace}/${name}`
    if (old === undefined) return [{ weight: 'compatible', place, what: `added ${now?.error}` }]
    if (now?.error !== old.error) {
      return [{ weight: 'breaking', place, what: `removed ${old.error}: Clients tell errors apart by their numbers.` }]
    }
    return now.meaning === old.meaning ? [] : [{ weight: 'text', place, what: `modified the meaning of ${now.error}` }]
  })
}

/** Returns the next version after changes of which the most severe is `heaviest` (semver.org, sections 6 to 8). */
export function nextVersion(version: string, heaviest: Severity): string {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  if (heaviest === 'breaking') return `${major + 1}.0.0`
  if (heaviest === 'compatible') return `${major}.${minor + 1}.0`
  return `${major}.${minor}.${patch + 1}`
}
