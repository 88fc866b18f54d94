import { redocly } from '../generate/redocly.ts'
import { type Difference, type Weight, weigh } from './change-weight.ts'

/** The place is FILE:LINE:COLUMN, in the older file for what was removed. */
export type Change = { weight: Weight; place: string; what: string }

const weights: Weight[] = ['breaking', 'compatible', 'text']

/**
 * Takes the paths of two OpenAPI documents, the older first; gives what differs besides info.version, the heaviest first.
 * A promise that only a description makes is a text to it, and it does not see that two branches of a oneOf overlap.
 */
export async function contractChanges(older: string, newer: string): Promise<Change[]> {
  const { changes } = JSON.parse(await redocly('diff', older, newer, '--format=json', '--fail-on=none'))
  return (changes as Difference[])
    .filter(({ typeName, property }) => typeName !== 'Info' || property !== 'version')
    .map(describe)
    .sort((one, other) => weights.indexOf(one.weight) - weights.indexOf(other.weight))
}

function describe(difference: Difference): Change {
  const { weight, why } = weigh(difference)
  const { file, line, col, pointer } = (difference.revision ?? difference.base) as NonNullable<Difference['base']>
  const what = `${difference.kind} ${pointer}`
  return { weight, place: `${file}:${line}:${col}`, what: why === '' ? what : `${what}: ${why}` }
}

/** Takes a version and the heaviest of what has changed since; gives the next version (semver.org, sections 6 to 8). */
export function nextVersion(version: string, heaviest: Weight): string {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  if (heaviest === 'breaking') return `${major + 1}.0.0`
  if (heaviest === 'compatible') return `${major}.${minor + 1}.0`
  return `${major}.${minor}.${patch + 1}`
}
