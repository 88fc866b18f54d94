import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bundle } from '../../scripts/build/bundle.ts'

/** Returns the directory of the bundle of the source as it is now, which is made once for all test files. */
export async function cachedBundle(): Promise<string> {
  const directory = resolve('.tap', 'bundles', sourceDigest())
  if (existsSync(directory)) return directory
  const part = `${directory}-${process.pid}`
  await bundle(part)
  try {
    renameSync(part, directory)
  } catch (error) {
    // Another process has made it meanwhile.
    rmSync(part, { recursive: true })
    if (!existsSync(directory)) throw error
  }
  return directory
}

/** Returns a digest of all that the bundle is made of. */
function sourceDigest(): string {
  const hash = createHash('sha1')
  const folders = ['src', 'generated', join('scripts', 'build')]
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? join(entry.parentPath, entry.name) : [],
    ),
  )
  for (const file of ['package.json', 'package-lock.json', ...files.sort()]) {
    hash.update(`${file}\n`).update(readFileSync(file))
  }
  return hash.digest('hex')
}
