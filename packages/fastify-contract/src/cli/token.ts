import { parseOptions, UsageError } from './cli-options.ts'
import { create, list, revoke, rotate } from './token-commands.ts'
import { readTokens, updateTokenFile } from './token-file-update.ts'

export const tokenHelp = `plant-store token create --name NAME [--scope SCOPES] [--expires WHEN] [--note TEXT]
plant-store token list
plant-store token rotate --name NAME [--overlap 24h] [--scope SCOPES] [--expires WHEN] [--note TEXT]
plant-store token revoke --name NAME | --digest DIGITS

A token is printed once, alone on standard output. The token file keeps only its digest. The file is --file PATH, else
that of TOKENS_FILE, else tokens.json.

create    creates the first token of a client
list      lists names, the first digits of digests, dates, scopes and notes
rotate    creates a new token; the previous ones expire after the overlap, 0s for at once
revoke    removes all tokens of a client, or the token whose digest begins with DIGITS

SCOPES are the scopes of the token, separated by spaces: 'plants:read plants:write'. By default a new token has none,
and a rotated token keeps those of the previous one.

WHEN is a duration (90d, 12h, 30m, 10s), a date (2030-01-31, in UTC) or a date and time (2030-01-31T12:00:00Z).
By default a new token does not expire, and a rotated token gets the lifetime of the previous one.
`

const changes = { create, rotate, revoke }

const options = {
  create: ['name', 'scope', 'expires', 'note', 'file'],
  list: ['file'],
  rotate: ['name', 'overlap', 'scope', 'expires', 'note', 'file'],
  revoke: ['name', 'digest', 'file'],
}

/**
 * Runs `plant-store token` with its arguments. Resolves with the text for standard output and a message for standard
 * error. Rejects with a UsageError, or with one line that names the file and the problem.
 */
export async function token(
  [command = '', ...args]: string[],
  environment: NodeJS.ProcessEnv,
): Promise<{ result: string; message?: string }> {
  if (command === '--help' || command === '-h') return { result: tokenHelp }
  if (!Object.hasOwn(options, command)) {
    throw new UsageError(`token: unknown command, allowed: ${Object.keys(options).join(', ')}`)
  }
  const name = command as keyof typeof options
  const { help, given } = parseOptions(args, options[name])
  if (help) return { result: tokenHelp }
  // An empty variable counts as not set.
  const { file = environment.TOKENS_FILE || 'tokens.json' } = given
  const now = Date.now()
  const changed = name === 'list' ? undefined : changes[name](given, now)
  try {
    if (changed === undefined) return { result: list(await readTokens(file), now) }
    const { result, message } = await updateTokenFile(file, changed)
    return { result, message: `${file}: ${message}\n` }
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`)
  }
}
