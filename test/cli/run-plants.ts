import { Readable, Writable } from 'node:stream'
import { plants } from '../../src/cli/plants.ts'

type Given = {
  stdin?: string | Readable
  interrupt?: AbortSignal
  environment?: NodeJS.ProcessEnv
  isTTY?: boolean
  onStderr?: () => void
}

/** Runs `plant-store plants` in this process; resolves with its exit code and what it has written. */
export async function runPlants(storeUrl: string, args: string[], given: Given = {}) {
  const { stdin = '', interrupt = new AbortController().signal, environment = {}, isTTY = false, onStderr } = given
  const written = { stdout: '', stderr: '' }
  const stream = (name: keyof typeof written) =>
    new Writable({
      write(chunk, _encoding, done) {
        written[name] += chunk
        if (name === 'stderr') onStderr?.()
        done()
      },
    })
  const code = await plants(
    args,
    { STORE_URL: storeUrl, ...environment },
    {
      stdin: typeof stdin === 'string' ? Readable.from([Buffer.from(stdin)]) : stdin,
      stdout: stream('stdout'),
      stderr: Object.assign(stream('stderr'), { isTTY }),
      interrupt,
    },
  )
  return { code, ...written }
}
