import { createHash } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bundle } from '../../scripts/build/bundle.ts'

/**
 * Returns a directory with the deployable bundle of the current source. The bundle is built once and shared by all test
 * files, so no test may write to the directory.
 */
export async function cachedBundle(): Promise<string> {
  const directory = resolve('.tap', 'services', sourceDigest())
  if (existsSync(directory)) return directory
  const part = `${directory}-${process.pid}`
  await bundle(join(part, 'dist'))
  cpSync('package.json', join(part, 'package.json'))
  symlinkSync(resolve('node_modules'), join(part, 'node_modules'))
  try {
    renameSync(part, directory)
  } catch (error) {
    // Another process has built the same bundle in the meantime.
    rmSync(part, { recursive: true })
    if (!existsSync(directory)) throw error
  }
  return directory
}

/** Returns a SHA-1 digest of every file that the bundle is built from. */
function sourceDigest(): string {
  const hash = createHash('sha1')
  const directories = ['src', 'generated', join('packages', 'fastify-contract', 'src'), join('scripts', 'build')]
  const files = directories.flatMap((directory) =>
    readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? join(entry.parentPath, entry.name) : [],
    ),
  )
  for (const file of ['package.json', 'package-lock.json', ...files.sort()])
    hash.update(`${file}\n`).update(readFileSync(file))
  return hash.digest('hex')
}
