import { Readable, Writable } from 'node:stream'
import { plants } from '../../src/cli/plants.ts'

type Given = { stdin?: string | Readable; interrupt?: AbortSignal; environment?: NodeJS.ProcessEnv }

/** Runs `plant-store plants` in this process; resolves with its exit code and output. */
export async function runPlants(storeUrl: string, args: string[], given: Given = {}) {
  const { stdin = '', interrupt = new AbortController().signal, environment = {} } = given
  const written = { stdout: '', stderr: '' }
  const stream = (name: keyof typeof written) =>
    new Writable({
      write(chunk, _encoding, done) {
        written[name] += chunk
        done()
      },
    })
  const code = await plants(
    args,
    { STORE_URL: storeUrl, ...environment },
    {
      stdin: typeof stdin === 'string' ? Readable.from([Buffer.from(stdin)]) : stdin,
      stdout: stream('stdout'),
      stderr: stream('stderr'),
      interrupt,
    },
  )
  return { code, ...written }
}
