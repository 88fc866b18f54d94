import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Call, readTrace, traced } from './strace-log.ts'

export type Recording = {
  /** Empty at first; the store is made in a directory below it that is not there yet. */
  directory: string
  /** The directory of the build whose store is recorded. */
  build: string
  /** What is created: `count` plants of `seed`, after the first `skip`, by some clients at once. */
  seed: number
  skip: number
  count: number
  clients: number
  /** The process is killed in place of this sync, counted from 1; 0 stands for none. */
  killAtSync: number
}

/** The file of the store, from the directory of a recording or of an image of it. */
export const storeFile = 'data/plants.db'

/**
 * Creates plants at a store of SQLite under strace; gives all that was done to the directory, by earlier recordings of
 * it too.
 */
export async function record(recording: Recording): Promise<Call[]> {
  const { directory, build, seed, skip, count, clients, killAtSync } = recording
  const trace = `${directory}.trace`
  // Data in full, whatever its length.
  const options = ['-A', '-f', '-y', '-xx', '-s', '16777216', '-e', `trace=${traced}`, '-o', trace]
  const kill = killAtSync > 0 ? ['-e', `inject=fsync,fdatasync:signal=KILL:when=${killAtSync}`] : []
  const writer = ['--import', import.meta.resolve('tsx'), fileURLToPath(new URL('store-writer.ts', import.meta.url))]
  const args = [join(build, 'store.js'), `sqlite:${storeFile}`, ...[seed, skip, count, clients].map(String)]
  const child = spawn('strace', [...options, ...kill, process.execPath, ...writer, ...args], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code, signal] = await once(child, 'exit')
  const isAsAsked = killAtSync > 0 ? signal === 'SIGKILL' : code === 0
  if (!isAsAsked) throw new Error(`the recording ended with ${code ?? signal}`)
  return await readTrace(trace, directory)
}
