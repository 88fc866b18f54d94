import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Call, readTrace, traced } from './trace.ts'

export type Recording = {
  /** An empty directory; the store is made in one below it that is not there yet. */
  directory: string
  /** The directory with the `src` whose store is recorded. */
  project: string
  /** What is created: the first `count` plants of `seed`. */
  seed: number
  count: number
}

/** The store's file of a recording or of an image of it. */
export const storeIn = (directory: string): string => join(directory, 'data', 'plants.db')

/** Creates plants at a store of SQLite under strace; gives all that it did to the directory. */
export async function record({ directory, project, seed, count }: Recording): Promise<Call[]> {
  const trace = `${directory}.trace`
  // Data in full, whatever its length.
  const strace = ['strace', '-f', '-y', '-xx', '-s', '16777216', '--seccomp-bpf', '-e', `trace=${traced}`, '-o', trace]
  const writer = fileURLToPath(new URL('writer.ts', import.meta.url))
  const store = [join(project, 'src/store/open.ts'), `sqlite:${storeIn(directory)}`]
  const [file = '', ...args] = [...strace, process.execPath, '--import', 'tsx', writer, ...store]
  const child = spawn(file, [...args, String(seed), String(count)], { stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the recording ended with ${code}`)
  return await readTrace(trace, directory)
}

/** What makes the store sync less than it promises: what is replaced in its source, and by what. */
const weaker: [string, string][] = [
  ["'synchronous = FULL'", "'synchronous = NORMAL'"],
  ['synchronous !== 2', 'synchronous !== 1'],
]

/** Copies the store's source to `project`, with synchronous=NORMAL. Throws when that is not what the source has. */
export async function copyWeaker(project: string): Promise<void> {
  await mkdir(project)
  for (const name of ['src', 'generated', 'package.json']) await cp(name, join(project, name), { recursive: true })
  await symlink(resolve('node_modules'), join(project, 'node_modules'))
  const replaced = new Set<string>()
  for (const name of await readdir(join(project, 'src/store'))) {
    const file = join(project, 'src/store', name)
    let text = await readFile(file, 'utf8')
    for (const [from, to] of weaker) {
      if (text.includes(from)) replaced.add(from)
      text = text.replaceAll(from, to)
    }
    await writeFile(file, text)
  }
  for (const [from] of weaker) if (!replaced.has(from)) throw new Error(`no source of a store has ${from} to replace`)
}
