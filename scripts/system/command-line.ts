import { parseArgs } from 'node:util'
import { toUsageError, UsageError } from 'fastify-contract/token-command'

/**
 * The options of a command with their defaults. The type of a default determines what the option accepts:
 * - false: no value
 * - a string or undefined: a string
 * - an integer: an integer from 1
 * - another number: a number above 0
 * - an array: integers from 1, separated by commas
 */
export type Options = Record<string, boolean | number | number[] | string | undefined>

/** The values of the options, with the types of their defaults. */
export type Values<Given extends Options> = {
  [option in keyof Given]: Given[option] extends boolean
    ? boolean
    : Given[option] extends number | number[]
      ? Given[option]
      : Given[option] extends string
        ? string
        : string | undefined
}

/**
 * Returns the options and words of a command line; a missing option has its default. With --help, prints the help and
 * ends the process. If the command line is invalid, prints one line to stderr and ends the process with exit code 2.
 *
 * @param help A command that ends with its name, and its options in brackets; an empty line; what the command does. It
 * must name each option.
 * @param names The words that are allowed as positional arguments; none by default. A name in capitals stands for one
 * word of any text.
 * @param args The arguments; by default those of this process.
 */
export function commandLine<Given extends Options>(
  help: string,
  defaults: Given = {} as Given,
  names: string[] = [],
  args = process.argv.slice(2),
): { options: Values<Given>; words: string[] } {
  const [command = ''] = /^[^[\n]*/.exec(help) as RegExpExecArray
  const name = command.trim().split(' ').at(-1)
  const unnamed = Object.keys(defaults).filter((option) => !help.includes(`--${option}`))
  if (unnamed.length > 0) throw new Error(`the help does not name --${unnamed.join(', --')}; add them`)
  try {
    const { isHelp, ...given } = parseCommandLine(args, defaults, names)
    if (!isHelp) return given
    process.stdout.write(`${help.trim()}\n`)
    process.exit()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${name}: ${error.message}\n`)
    process.exit(2)
  }
}

/** Parses `[WORD...] [--OPTION VALUE...]`. Throws a UsageError that names what is expected. */
export function parseCommandLine<Given extends Options>(
  args: string[],
  defaults: Given,
  names: string[],
): { isHelp: boolean; options: Values<Given>; words: string[] } {
  const typed = Object.entries({ ...defaults, help: false }).map(([option, value]) => {
    const type = typeof value === 'boolean' ? ('boolean' as const) : ('string' as const)
    return [option, { type, ...(option === 'help' && { short: 'h' }) }] as const
  })
  const expected = [...names, ...typed.map(([option]) => `--${option}`)]
  try {
    const { positionals, values } = parseArgs({
      args,
      options: Object.fromEntries(typed),
      allowPositionals: names.length > 0,
    })
    const others = positionals.filter((word) => !names.includes(word))
    const unknown = others[names.filter((name) => /^[A-Z]+$/.test(name)).length]
    if (unknown !== undefined) throw new UsageError(`unexpected argument '${unknown}'; expected ${expected.join(', ')}`)
    const { help = false, ...given } = values
    const read = Object.entries(given).map(([option, text]) => [option, valueIn(option, text, defaults[option])])
    return {
      isHelp: help === true,
      options: { ...defaults, ...Object.fromEntries(read) } as Values<Given>,
      words: positionals,
    }
  } catch (error) {
    throw error instanceof UsageError ? error : toUsageError(error as Error, expected)
  }
}

/** Returns the value of an option if it is one of the allowed words; otherwise ends the process with exit code 2. */
export function oneOf<Word extends string>(option: string, value: string, allowed: readonly Word[]): Word {
  const found = allowed.find((word) => word === value)
  if (found !== undefined) return found
  process.stderr.write(`--${option} is "${value}"; expected ${allowed.join(', ')}\n`)
  process.exit(2)
}

function valueIn(option: string, text: unknown, fallback: Options[string]): Options[string] {
  if (Array.isArray(fallback)) {
    const values = String(text).split(',').map(Number)
    if (values.every((value) => Number.isSafeInteger(value) && value >= 1)) return values
    throw new UsageError(`--${option} is "${text}"; expected integers from 1, with commas between them`)
  }
  if (typeof fallback !== 'number') return text as string | boolean
  const value = Number(text)
  const isInteger = Number.isSafeInteger(fallback)
  if (isInteger ? Number.isSafeInteger(value) && value >= 1 : Number.isFinite(value) && value > 0) return value
  throw new UsageError(`--${option} is "${text}"; expected ${isInteger ? 'an integer from 1' : 'a number above 0'}`)
}
