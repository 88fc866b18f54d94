import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/**
 * Matches Redocly's boxed notices about the version of Node or a new Redocly, which do not belong in an error message.
 */
const box = /^[ \t]*[╔║╚].*\n?/gm

/**
 * Returns the problem of a document on which @redocly/cli or openapi-typescript overflows the stack, since both follow
 * references recursively; undefined for any other error.
 */
export const depthProblem = (error: unknown): string | undefined =>
  String((error as Error).message).includes('Maximum call stack size exceeded')
    ? 'schemas are nested, or refer to one another in a chain, too deeply for @redocly/cli and openapi-typescript; ' +
      'shorten the chain to at most 500 schemas'
    : undefined

/**
 * Runs Redocly's command line tool without telemetry and returns its output. Rejects with its messages if it fails.
 */
export async function redocly(...args: string[]): Promise<string> {
  // Color codes would end up in error messages.
  const uncolored = { NO_COLOR: '1', FORCE_COLOR: undefined }
  const env = { ...process.env, ...uncolored, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const manifest = createRequire(import.meta.url).resolve('@redocly/cli/package.json')
  const cli = join(dirname(manifest), 'bin', 'cli.js')
  try {
    return (await promisify(execFile)(process.execPath, [cli, ...args], { env, maxBuffer: 2 ** 28 })).stdout
  } catch (error) {
    const { stdout, stderr, message } = error as Error & { stdout: string; stderr: string }
    const text = stdout.trim() || stderr.replaceAll(box, '').trim() || message
    throw new Error(depthProblem({ message: text }) ?? text)
  }
}
