import { existsSync } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type OwnPackage, packInto } from './own-packages.ts'
import type { Copy } from './place-document.ts'
import { firstOf } from './summary.ts'

/**
 * Copies files to a directory, writes others there, and packs packages into files of it. Returns the paths of all of them.
 *
 * @param fix What to do if one of them exists.
 * @throws {Error} If one of them exists. Then nothing is written.
 */
export async function writeNewFiles(
  directory: string,
  files: Record<string, string>,
  copies: Copy[],
  packages: OwnPackage[],
  fix: string,
): Promise<string[]> {
  const paths = [copies.map(({ to }) => to), Object.keys(files), packages.flatMap(({ to }) => to ?? [])].flat()
  const existing = paths.map((name) => join(directory, name)).filter((path) => existsSync(path))
  if (existing.length > 0) {
    const names = firstOf(existing, 3).join(', ')
    throw new Error(
      `init: nothing is written, since ${names} already ${existing.length > 1 ? 'exist' : 'exists'}; ${fix}`,
    )
  }
  await packInto(directory, packages)
  for (const { from, to } of copies) await copyFile(from, await placeFor(join(directory, to)))
  for (const [name, text] of Object.entries(files)) await writeFile(await placeFor(join(directory, name)), text)
  return paths
}

async function placeFor(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true })
  return path
}
