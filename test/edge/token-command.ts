import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Runs `plant-store token` on a token file; resolves with its output, which for `create` is the new token. */
export async function tokenCommand(path: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, TOKENS_FILE: path }
  const { stdout } = await promisify(execFile)(process.execPath, ['dist/plant-store.js', 'token', ...args], { env })
  return stdout.trim()
}
