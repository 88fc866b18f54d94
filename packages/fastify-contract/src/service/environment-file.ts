import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

/**
 * Sets the environment variables of a file, such as `.env`, that are not set yet, and returns the names of all variables of
 * the file. A missing file sets none.
 *
 * @throws {Error} If the file cannot be read; the message is one line.
 */
export function loadEnvironmentFile(path: string): string[] {
  try {
    const variables = parseEnv(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''))
    for (const [name, value] of Object.entries(variables)) process.env[name] ??= value
    return Object.keys(variables)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    throw new Error(`${path} cannot be read (${message}); make it a file with lines NAME=VALUE, or remove it`)
  }
}
