import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

const { compare } = new Intl.Collator('en', { numeric: true })

/** Compares two versions MAJOR.MINOR.PATCH, for a sort that puts the oldest first. */
export const compareVersions = (one: string, other: string): number => compare(one, other)

/** Returns the versions whose documents a directory holds, the oldest first; none when it does not exist. */
export async function releasedVersions(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => [])
  const versions = names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length))
  return versions.sort(compareVersions)
}

/** Returns the path of the document of a version. */
export const releasedFile = (directory: string, version: string): string => join(directory, `${version}.json`)
