import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A notice about the version of Node, or about another version of Redocly, which is no part of a complaint. */
const box = /^[ \t]*[╔║╚].*\n?/gm

/**
 * Runs Redocly's command line tool without its telemetry and returns what it prints. Rejects with its complaints when it
 * fails.
 */
export async function redocly(...args: string[]): Promise<string> {
  // Colours would stand in the messages of errors.
  const uncoloured = { NO_COLOR: '1', FORCE_COLOR: undefined }
  const env = { ...process.env, ...uncoloured, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const cli = join('node_modules', '@redocly', 'cli', 'bin', 'cli.js')
  try {
    return (await promisify(execFile)(process.execPath, [cli, ...args], { env, maxBuffer: 2 ** 28 })).stdout
  } catch (error) {
    const { stdout, stderr, message } = error as Error & { stdout: string; stderr: string }
    throw new Error(stdout.trim() || stderr.replaceAll(box, '').trim() || message)
  }
}
