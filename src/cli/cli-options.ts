import { parseArgs } from 'node:util'

/** A command that was not written as it must be: told in one line, with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * Parses the arguments of a command: options that have a value each, and at most one other argument. Returns what was
 * given, and whether help was requested. Throws a UsageError, which shows no value.
 */
export function parseOptions(
  args: string[],
  names: string[],
  operandName?: string,
): { help: boolean; given: Record<string, string>; operand: string | undefined } {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { ...options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: operandName !== undefined,
    })
    if (positionals.length > 1) throw new Error('More than one word without an option')
    // Behind -- even --help is a word; a negative number is one that may stand.
    if (/^-(?!\d)/.test(positionals[0] ?? '')) throw new Error(`${operandName} must not begin with a dash`)
    const { help = false, ...given } = values as Record<string, string> & { help?: boolean }
    return { help, given, operand: positionals[0] }
  } catch (error) {
    const allowed = [...names, 'help'].map((name) => `--${name}`)
    throw usageError(error as Error, operandName === undefined ? allowed : [operandName, ...allowed])
  }
}

/** Returns the UsageError for an error of parseArgs, without the value that was given. */
export function usageError({ code, message }: Error & { code?: string }, allowed: string[]): UsageError {
  // A word that stands alone may be a token.
  const problem =
    code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL' ? 'A word without an option' : message.split(/[.\n]/)[0]
  return new UsageError(`${problem}, allowed: ${allowed.join(', ')}`)
}
