import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { within } from 'fastify-contract-test-support/poll'
import { type Call, readTrace, traced } from './strace-log.ts'

export type Recording = {
  /** Working directory, empty before the first recording; the store creates a directory below it. */
  directory: string
  /** Directory of the build to record. */
  build: string
  /** The load: `count` plants of `seed` after the first `skip`, by `clients` concurrent clients. */
  seed: number
  skip: number
  count: number
  clients: number
  /** Number of the sync, from 1, at which the process is killed; 0 means never. */
  killAtSync: number
}

/** Path of the database file, relative to the directory of a recording or an image. */
export const storeFile = 'data/plants.db'

/**
 * Creates plants in a SQLite store under strace. Resolves with every call on the directory, including those of earlier
 * recordings. Throws when the process does not end as expected.
 */
export async function record(recording: Recording): Promise<Call[]> {
  const { directory, build, seed, skip, count, clients, killAtSync } = recording
  const trace = `${directory}.trace`
  // The string limit exceeds the longest write, so that strace records all data.
  const options = ['-A', '-f', '-y', '-xx', '-s', '16777216', '-e', `trace=${traced}`, '-o', trace]
  const kill = killAtSync > 0 ? ['-e', `inject=fsync,fdatasync:signal=KILL:when=${killAtSync}`] : []
  const writer = ['--import', import.meta.resolve('tsx'), fileURLToPath(new URL('store-writer.ts', import.meta.url))]
  const args = [join(build, 'store.js'), `sqlite:${storeFile}`, ...[seed, skip, count, clients].map(String)]
  const child = spawn('strace', [...options, ...kill, process.execPath, ...writer, ...args], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code, signal] = await within(once(child, 'exit'), 'the recording', 600_000)
  const isAsAsked = killAtSync > 0 ? signal === 'SIGKILL' : code === 0
  if (!isAsAsked) throw new Error(`the recording ended with ${code ?? signal}`)
  return await readTrace(trace, directory)
}
