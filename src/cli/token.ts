import { parseOptions, UsageError } from './cli-options.ts'
import { create, list, revoke, rotate } from './token-commands.ts'
import { changeTokens, readTokens } from './token-file-update.ts'

export const tokenHelp = `plant-store token create --name NAME [--scope SCOPES] [--expires WHEN] [--note TEXT]
plant-store token list
plant-store token rotate --name NAME [--overlap 24h] [--scope SCOPES] [--expires WHEN] [--note TEXT]
plant-store token revoke --name NAME | --digest DIGITS

A token is printed once, alone on the standard output. The file keeps its digest: each command takes --file PATH,
else the file of TOKENS_FILE, else tokens.json.

create    makes the first token of a client
list      shows names, the first digits of digests, dates, scopes and notes
rotate    makes a new one; those before it expire after the overlap, 0s for at once
revoke    removes all tokens of a client, or the one whose digest begins so

SCOPES are what the token allows, with spaces between them: 'plants:read plants:write'. Without it a token has none, and
a rotated one those of the one before.

WHEN is a duration (90d, 12h, 30m, 10s), a date (2030-01-31, in UTC) or a date and time (2030-01-31T12:00:00Z).
Without it a token does not expire, and a rotated one lives as long as the one before.
`

const changes = { create, rotate, revoke }

const options = {
  create: ['name', 'scope', 'expires', 'note', 'file'],
  list: ['file'],
  rotate: ['name', 'overlap', 'scope', 'expires', 'note', 'file'],
  revoke: ['name', 'digest', 'file'],
}

/**
 * Runs `plant-store token` with the given arguments and environment. Returns what to print: a result, and messages for
 * people. Rejects with a UsageError, or with what is wrong with the file.
 */
export async function token(
  [command = '', ...args]: string[],
  environment: NodeJS.ProcessEnv,
): Promise<{ result: string; words?: string }> {
  if (command === '--help' || command === '-h') return { result: tokenHelp }
  if (!Object.hasOwn(options, command)) {
    throw new UsageError(`token: there is no such command, allowed: ${Object.keys(options).join(', ')}`)
  }
  const name = command as keyof typeof options
  const { help, given } = parseOptions(args, options[name])
  if (help) return { result: tokenHelp }
  // An empty variable is one that is not set.
  const { file = environment.TOKENS_FILE || 'tokens.json' } = given
  const now = Date.now()
  const changed = name === 'list' ? undefined : changes[name](given, now)
  try {
    if (changed === undefined) return { result: list(await readTokens(file), now) }
    const { result, words } = await changeTokens(file, changed)
    return { result, words: `${file}: ${words}\n` }
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`)
  }
}
