import { parseArgs } from 'node:util'

/** The options of a runner: a number stands for a positive integer, everything else for a text. */
export type Options = Record<string, number | string | undefined>

/**
 * Parses `[NAME...] [--OPTION=VALUE...]`. Without a name, all scenarios are chosen. Throws an error that lists what is
 * allowed.
 *
 * @param defaults All options with their defaults.
 */
export function parseArguments<Given extends Options>(
  args: string[],
  scenarios: string[],
  defaults: Given,
): { names: string[]; options: Given } {
  const types = Object.keys(defaults).map((option) => [option, { type: 'string' }] as const)
  const { positionals, values } = parseArgs({ args, allowPositionals: true, options: Object.fromEntries(types) })
  const unknown = positionals.filter((name) => !scenarios.includes(name))
  if (unknown.length > 0) throw new Error(`unknown scenario ${unknown.join(', ')}; use ${scenarios.join(', ')}`)
  const given = Object.entries(values).map(([option, value]) => [
    option,
    typeof defaults[option] === 'number' ? positiveInteger(option, value as string) : value,
  ])
  return {
    names: positionals.length === 0 ? scenarios : positionals,
    options: { ...defaults, ...Object.fromEntries(given) },
  }
}

function positiveInteger(option: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`--${option}: invalid value "${text}"; use an integer from 1`)
  return value
}
