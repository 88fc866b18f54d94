import { relative, resolve } from 'node:path'
import type { Compiled } from '../emit/compile.ts'
import { skippedOperations } from '../emit/skipped-operations-json.ts'
import { shellPath } from '../text/foreign-text.ts'
import type { DerivedErrorBody } from './error-body.ts'
import { missingSettings, type PackageManager } from './package-manager.ts'
import type { Copy } from './place-document.ts'

/** What `init` wrote. */
export type Written = {
  directory: string
  copies: Copy[]
  files: string[]
  handlers: string[]
  errors: DerivedErrorBody
  compiled: Compiled
  /** The configuration of Redocly in the directory if it was not read. */
  unread: string | undefined
  manager: PackageManager
  /** The file with the settings of the package manager if init did not write it. */
  settings: string | undefined
  /** Whether the packages of the project are installed. */
  isInstalled: boolean
  /** A line for each part of the project that is left out for a reason. */
  leftOut: string[]
}

/** What `init` tells about a project and about an existing application. */
export type Outcome = Omit<Written, 'settings' | 'isInstalled'>

/** Returns what `init` prints at its end: what it wrote, what is not served and why, and the next commands. */
export function summary(written: Written): string {
  const { directory, manager, settings, isInstalled } = written
  const lacking = settings === undefined ? undefined : missingSettings(manager, settings)
  return [
    ...outcome(written, { errors: 'src/error-body.ts', handlers: 'src/handlers.ts', app: 'src/app.ts' }),
    '',
    'Next:',
    ...(relative('.', directory) === '' ? [] : [`  cd ${shellPath(directory)}`]),
    ...(isInstalled ? [] : [`  ${manager} install`]),
    `  ${manager} start`,
    ...(lacking === undefined
      ? []
      : ['', `Before, add to ${settings}, since esbuild works without its install script:`, lacking]),
  ].join('\n')
}

/**
 * Returns the lines about what `init` wrote, and about what is not served and why.
 *
 * @param modules The paths of the modules of errorBody and of the handlers, and of the one that uses both.
 */
export function outcome(
  { directory, copies, files, handlers, errors, compiled, unread, manager, leftOut }: Outcome,
  modules: Record<'errors' | 'handlers' | 'app', string>,
): string[] {
  const missing: string[] = []
  for (const handler of handlers)
    if (/^ {4}throw /m.test(handler)) missing.push(/^ {2}async '?(.*?)'?\(\): /m.exec(handler)?.[1] as string)
  const written = [...copies.map(({ to }) => to), ...files.filter((name) => !name.startsWith('generated'))]
  const { warnings, skipped } = compiled
  const [warning = ''] = warnings
  const generate = `${manager} run generate`
  return [
    `Wrote to ${resolve(directory)}: ${written.join(', ')}, generated/`,
    ...(leftOut.length > 0 ? ['Left out:', ...leftOut.map((line) => `  ${line}`)] : []),
    '',
    handlers.length === 0
      ? 'The document has no operations.'
      : `${handlers.length - missing.length} of ${handlers.length} operations respond as the document describes them${madeOf(handlers)}.`,
    ...(skipped.length === 0
      ? []
      : [
          `Not counted: ${skippedOperations(skipped).length} that cannot be served as the document describes them; these respond with 501:`,
          ...firstOf(
            skipped.map(({ pointer, text }) => `  ${pointer}: ${text}`),
            5,
            '  ',
          ),
          `generated/skipped-operations.json lists them with the reasons. ${generate} skips them.`,
        ]),
    ...(missing.length > 0
      ? [
          `These respond with 501 until you write them, for the reason in ${modules.handlers}: ${firstOf(missing, 10).join(', ')}`,
        ]
      : []),
    ...('text' in errors
      ? [`${modules.errors} creates the body of errors as the document describes it.`]
      : [
          'Errors are plain text, because the document describes members that only you can fill:',
          ...firstOf(distinct(errors.reasons), 10, '  '),
          `Write ${modules.errors}, and use it in ${modules.app}: node_modules/fastify-contract/docs/handlers.md has an example.`,
        ]),
    ...(warnings.length > 1 ? [`${generate} prints ${warnings.length} warnings about the document.`] : []),
    ...(warnings.length === 1 ? [`${generate} prints a warning about the document: ${warning}`] : []),
    ...(unread === undefined
      ? []
      : [`init did not read ${unread}, since its plugins are code; ${generate} reads it and runs them.`]),
  ]
}

/** Returns how many handlers return a value that is made from the schema. */
function madeOf(handlers: string[]): string {
  const made = handlers.filter((handler) => /^ {4}\/\/ Made from the schema;/m.test(handler)).length
  return made === 0 ? '' : `, ${made} with values made from the schema`
}

/** Returns the first entries of a list, and how many more there are. */
export const firstOf = (list: string[], count: number, indent = ''): string[] =>
  list.length > count ? [...list.slice(0, count), `${indent}${list.length - count} more`] : list

/** Returns a line for each distinct text of lines `POINTER: TEXT`, with its first pointer and the number of the others. */
function distinct(lines: string[]): string[] {
  const pointers = new Map<string, string[]>()
  for (const line of lines) {
    const [, pointer = '', text = ''] = /^(#\S*): (.*)$/s.exec(line) ?? [line, '', line]
    pointers.set(text, [...(pointers.get(text) ?? []), pointer])
  }
  const told: string[] = []
  for (const [text, [first = '', ...others]] of pointers) {
    const more = others.length === 0 ? '' : ` and ${others.length} more`
    told.push(first === '' ? `  ${text}` : `  ${first}${more}: ${text}`)
  }
  return told
}
