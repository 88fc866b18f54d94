import { readFile } from 'node:fs/promises'
import { redocly } from '../generate/redocly.ts'
import { type Difference, type Weight, weigh } from './change-weight.ts'

/** The place is FILE:LINE:COLUMN, in the older file for what was removed. */
export type Change = { weight: Weight; place: string; what: string }

const weights: Weight[] = ['breaking', 'compatible', 'text']

/** A document in one piece, as it is published; only these parts of it are compared here. */
type Published = { info: { description?: string }; 'x-error-numbers'?: Record<string, ErrorNumber> }
type ErrorNumber = { error: number; meaning: string }

/**
 * Returns what differs between a released document and the one at a path, which is published as `published`, besides
 * info.version, the heaviest first. A promise that only a description makes is a text to it, and it does not see that two
 * branches of a oneOf overlap.
 */
export async function contractChanges(released: string, path: string, published: Published): Promise<Change[]> {
  const { changes } = JSON.parse(await redocly('diff', released, path, '--format=json', '--fail-on=none'))
  const older: Published = JSON.parse(await readFile(released, 'utf8'))
  // The description of the source has no table of errors yet.
  const isSameText = older.info.description === published.info.description
  return (changes as Difference[])
    .filter(({ typeName, property }) => !(typeName === 'Info' && property === 'version'))
    .filter(({ typeName, property }) => !(typeName === 'Info' && property === 'description' && isSameText))
    .map(describe)
    .concat(errorNumberChanges(older, published, path))
    .sort((one, other) => weights.indexOf(one.weight) - weights.indexOf(other.weight))
}

/** Returns the changes of the table of errors, which redocly diff does not compare. */
function errorNumberChanges(released: Published, published: Published, path: string): Change[] {
  const { 'x-error-numbers': before = {} } = released
  const { 'x-error-numbers': after = {} } = published
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.flatMap((name): Change[] => {
    const [old, now] = [before[name], after[name]]
    const place = `${path}#/x-error-numbers/${name}`
    if (old === undefined) return [{ weight: 'compatible', place, what: `added ${now?.error}` }]
    if (now?.error !== old.error) {
      return [{ weight: 'breaking', place, what: `removed ${old.error}: Clients tell errors apart by their numbers.` }]
    }
    return now.meaning === old.meaning ? [] : [{ weight: 'text', place, what: `modified the meaning of ${now.error}` }]
  })
}

function describe(difference: Difference): Change {
  const { weight, why } = weigh(difference)
  const { file, line, col, pointer } = (difference.revision ?? difference.base) as NonNullable<Difference['base']>
  const what = `${difference.kind} ${pointer}`
  return { weight, place: `${file}:${line}:${col}`, what: why === '' ? what : `${what}: ${why}` }
}

/** Returns the version that follows a version by the heaviest of what has changed since it (semver.org, sections 6 to 8). */
export function nextVersion(version: string, heaviest: Weight): string {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  if (heaviest === 'breaking') return `${major + 1}.0.0`
  if (heaviest === 'compatible') return `${major}.${minor + 1}.0`
  return `${major}.${minor}.${patch + 1}`
}
