import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { within } from 'fastify-contract-test-support/poll'

/** Shell script that kills the program when the pipe to this process closes, even if SIGKILL ends this process. */
const guard = '"$@" & pid=$!; cat > /dev/null; kill -KILL $pid'

/**
 * Starts a program that ends with this process. Resolves, once its output matches `ready`, with a function that ends
 * it. Rejects with its output when the program ends before.
 */
export async function startGuarded(
  file: string,
  args: string[],
  environment: Record<string, string>,
  ready: RegExp,
): Promise<() => Promise<void>> {
  const child = spawn('sh', ['-c', guard, 'sh', file, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let output = ''
  const ended = once(child, 'close')
  const isReady = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        // The programs log every connection, but only their start matters here.
        if (output.length < 100_000) output += text
        if (ready.test(output)) resolve()
      })
      // The shell waits for its pipe, so only the end of output shows that the program has ended.
      stream.on('end', () => reject(new Error(`${file} ended: ${output}`)))
    }
  })
  const end = async () => {
    child.stdin.end()
    await ended
  }
  try {
    await within(isReady, () => `${file} to be ready: ${output}`)
  } catch (error) {
    await end()
    throw error
  }
  return end
}
