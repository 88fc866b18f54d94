import { parseArgs } from 'node:util'

/** Reports an invalid command line: its message is printed as one line, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * Parses the arguments of a command: options that each have a value, and at most one operand. Returns the given options
 * and operand, and whether help was requested. Throws a UsageError whose message contains no given value.
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
    if (positionals.length > 1) throw new Error('More than one argument')
    // After --, parseArgs treats even --help as an operand. A negative number is a valid operand.
    if (/^-(?!\d)/.test(positionals[0] ?? '')) throw new Error(`${operandName} must not begin with a dash`)
    const { help = false, ...given } = values as Record<string, string> & { help?: boolean }
    return { help, given, operand: positionals[0] }
  } catch (error) {
    const allowed = [...names, 'help'].map((name) => `--${name}`)
    throw toUsageError(error as Error, operandName === undefined ? allowed : [operandName, ...allowed])
  }
}

/** Converts an error of parseArgs to a UsageError without the given value. */
export function toUsageError({ code, message }: Error & { code?: string }, allowed: string[]): UsageError {
  // The unexpected argument may be a token.
  const problem = code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL' ? 'Unexpected argument' : message.split(/[.\n]/)[0]
  return new UsageError(`${problem}, allowed: ${allowed.join(', ')}`)
}
