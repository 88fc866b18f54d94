import { parseArgs } from 'node:util'

/** Reports an invalid command line: its message is printed as one line, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * Parses the arguments of a command: options that each have a value, and at most one operand. Returns the given options
 * and operand, and whether help was requested. Throws a UsageError.
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
    if (positionals.length > 1) throw new Error(`unexpected argument '${positionals[1]}'`)
    // After --, parseArgs treats even --help as an operand. A negative number is a valid operand.
    if (/^-(?!\d)/.test(positionals[0] ?? '')) throw new Error(`${operandName} must not begin with a dash`)
    const { help = false, ...given } = values as Record<string, string> & { help?: boolean }
    return { help, given, operand: positionals[0] }
  } catch (error) {
    const expected = [...names, 'help'].map((name) => `--${name}`)
    throw toUsageError(error as Error, operandName === undefined ? expected : [operandName, ...expected])
  }
}

/** Converts an error of parseArgs to a UsageError, in one line. */
export function toUsageError({ message }: Error, expected: string[]): UsageError {
  const problem = message
    .replace(/^Un(known|expected)/, 'unexpected')
    .replace(/\.(\n| To specify| This command).*/s, '')
  return new UsageError(`${problem}; expected ${expected.join(', ')}`)
}
