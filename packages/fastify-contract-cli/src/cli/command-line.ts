import { parseArgs } from 'node:util'
import { toUsageError } from 'fastify-contract/token-command'

/** The values of the options of a command, with the types of their defaults. */
type Values<Given> = {
  [option in keyof Given]: Given[option] extends boolean
    ? boolean
    : Given[option] extends string
      ? string
      : string | undefined
}

/**
 * Returns the options and words of a command line; a missing option has its default. With --help, prints the help and
 * ends the process. If the command line is invalid, prints one line to stderr and ends the process with exit code 2.
 *
 * @param help The command line, which begins with the name of the command, an empty line, and what the command does.
 * @param defaults The options with their defaults. An option whose default is a boolean takes no value.
 * @param names What the words of the command line are, such as DOCUMENT.
 * @param lists Options that may be repeated; commas separate their values. Of other options, the last one counts.
 */
export function commandLine<Given extends Record<string, boolean | string | undefined>>(
  help: string,
  defaults: Given,
  names: string[],
  args = process.argv.slice(2),
  lists: string[] = [],
): { options: Values<Given>; words: string[] } {
  const types = Object.entries(defaults).map(([option, value]) => [
    option,
    { type: typeof value === 'boolean' ? ('boolean' as const) : ('string' as const), multiple: lists.includes(option) },
  ])
  const expected = [...names, ...Object.keys(defaults).map((option) => `--${option}`), '--help']
  try {
    const { positionals: words, values } = parseArgs({
      args,
      options: { ...Object.fromEntries(types), help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    })
    if (words.length > names.length) throw new Error(`Unexpected argument '${words[names.length]}'`)
    const { help: isHelp, ...parsed } = values as Record<string, boolean | string | string[] | undefined>
    const given = Object.fromEntries(
      Object.entries(parsed).map(([option, value]) => [option, Array.isArray(value) ? value.join(',') : value]),
    )
    if (isHelp !== true) return { options: { ...defaults, ...given } as Values<Given>, words }
  } catch (error) {
    const [, name = ''] = /^(?:fastify-contract )?(\S+)/.exec(help) as RegExpExecArray
    const { message } = toUsageError(error as Error, expected)
    process.stderr.write(`${name}: ${message}\n`)
    process.exit(2)
  }
  process.stdout.write(`${help.trim()}\n`)
  process.exit()
}
