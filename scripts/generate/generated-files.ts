import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Files by name. */
export type Files = Record<string, string>

/** Returns the paths of the files that differ from what is in a directory. */
async function staleFiles(files: Files, directory: string): Promise<string[]> {
  const stale = []
  for (const [name, text] of Object.entries(files)) {
    const path = join(directory, name)
    if ((await readFile(path, 'utf8').catch(() => undefined)) !== text) stale.push(path)
  }
  return stale
}

/** Returns the names of what is in a directory and no generated file, without hidden files: they are the editor's. */
async function surplusFiles(files: Files, directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => [])
  return names.filter((name) => !Object.hasOwn(files, name) && !name.startsWith('.')).sort()
}

/** Rejects with one line for the files that differ from what is in a directory, and one for those that do not belong there. */
export async function refuseStale(files: Files, directory: string): Promise<void> {
  const stale = await staleFiles(files, directory)
  const surplus = (await surplusFiles(files, directory)).map((name) => join(directory, name))
  const problems = [
    ...(stale.length > 0 ? [`not up to date, run npm run generate: ${stale.join(', ')}`] : []),
    ...(surplus.length > 0 ? [`not generated from the document, remove: ${surplus.join(', ')}`] : []),
  ]
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

/** Writes the files that differ, and no other; returns their paths. */
export async function writeStale(files: Files, directory: string): Promise<string[]> {
  const stale = await staleFiles(files, directory)
  await mkdir(directory, { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    const path = join(directory, name)
    if (stale.includes(path)) await writeFile(path, text)
  }
  return stale
}
