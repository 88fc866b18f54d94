import { relative, resolve } from 'node:path'
import type { Compiled } from '../emit/compile.ts'
import { skippedOperations } from '../emit/skipped-operations-json.ts'
import { shellPath } from '../text/foreign-text.ts'
import type { DerivedErrorBody } from './error-body.ts'
import { missingSettings } from './package-manager.ts'
import type { Draft } from './write-project.ts'

/** What `init` tells about a project and about an existing application. */
type Outcome = Draft & {
  /** The paths of the written files. */
  files: string[]
  /** A line for each part of the project that is left out for a reason. */
  leftOut?: string[]
}

/** What decides the next commands. */
type Installation = {
  /** The file with the settings of the package manager if init did not write it. */
  settings: string | undefined
  /** Whether the packages of the project are installed. */
  isInstalled: boolean
}

/** The paths of the modules of errorBody and of the handlers, and of the one that uses both. */
type Modules = Record<'errors' | 'handlers' | 'app', string>

/** Returns what `init` prints at its end: what it wrote, what is not served and why, and the next commands. */
export function summary(written: Outcome, { settings, isInstalled }: Installation): string {
  const { directory, manager } = written
  const lacking = settings === undefined ? undefined : missingSettings(manager, settings)
  const next = [
    'Next:',
    ...(relative('.', directory) === '' ? [] : [`  cd ${shellPath(directory)}`]),
    ...(isInstalled ? [] : [`  ${manager} install`]),
    `  ${manager} start`,
  ]
  return [
    outcome(written, { errors: 'src/error-body.ts', handlers: 'src/handlers.ts', app: 'src/app.ts' }),
    next.join('\n'),
    ...(lacking === undefined
      ? []
      : [`Before, add to ${settings}, since esbuild works without its install script:\n${lacking}`]),
  ].join('\n\n')
}

/** Returns what `init` wrote, and what is not served and why. */
export function outcome(
  { directory, files, handlers, errors, compiled, unread, manager, leftOut = [] }: Outcome,
  modules: Modules,
): string {
  const { warnings } = compiled
  const [warning = ''] = warnings
  const generate = `${manager} run generate`
  const notes = [
    ...(warnings.length > 1 ? [`${generate} prints ${warnings.length} warnings about the document.`] : []),
    ...(warnings.length === 1 ? [`${generate} prints a warning about the document: ${warning}`] : []),
    ...(unread === undefined
      ? []
      : [`init did not read ${unread}, since its plugins are code; ${generate} reads it and runs them.`]),
  ]
  const reasons = [operationLines(handlers, compiled, generate, modules), errorLines(errors, modules), notes]
  return [
    [
      `Wrote to ${resolve(directory)}: ${entriesOf(files).join(', ')}`,
      ...(leftOut.length > 0 ? ['Left out:', ...leftOut.map((line) => `  ${line}`)] : []),
    ],
    ...reasons.map((lines) => lines.map(shortened)),
  ]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

/** The greatest number of characters of a line. */
const lineLimit = 240

/** The greatest number of reasons in a list. */
const reasonLimit = 3

const shortened = (line: string): string => (line.length > lineLimit ? `${line.slice(0, lineLimit)} ...` : line)

/** Returns the files at the top of a project, and its directories with the number of their files. */
function entriesOf(paths: string[]): string[] {
  const counts = new Map<string, number>()
  for (const path of paths) {
    const [name = '', ...rest] = path.split(/[\\/]/)
    const entry = rest.length > 0 ? `${name}/` : name
    counts.set(entry, (counts.get(entry) ?? 0) + 1)
  }
  return Array.from(counts, ([entry, count]) => (count > 1 ? `${entry} (${count} files)` : entry))
}

/** Returns which operations respond as described, and which do not, and why. */
function operationLines(handlers: string[], { skipped }: Compiled, generate: string, modules: Modules): string[] {
  const missing: string[] = []
  for (const handler of handlers)
    if (/^ {4}throw /m.test(handler)) missing.push(/^ {2}async '?(.*?)'?\(\): /m.exec(handler)?.[1] as string)
  const reasons = skipped.map(({ pointer, text }) => `  ${pointer}: ${text}`)
  return [
    handlers.length === 0
      ? 'The document has no operations.'
      : `${handlers.length - missing.length} of ${handlers.length} operations respond as the document describes them${madeOf(handlers)}.`,
    ...(missing.length > 0
      ? [
          `These respond with 501 until you write them, for the reason in ${modules.handlers}: ${firstOf(missing, 10).join(', ')}`,
        ]
      : []),
    ...(skipped.length === 0
      ? []
      : [
          `Not counted: ${skippedOperations(skipped).length} that cannot be served as the document describes them; these respond with 501:`,
          ...firstOf(reasons, reasonLimit, '  '),
          `generated/skipped-operations.json lists them with the reasons. ${generate} skips them.`,
        ]),
  ]
}

function errorLines(errors: DerivedErrorBody, modules: Modules): string[] {
  if ('text' in errors) return [`${modules.errors} creates the body of errors as the document describes it.`]
  return [
    'Errors are plain text, because the document describes members that only you can fill:',
    ...firstOf(distinct(errors.reasons), reasonLimit, '  '),
    `Write ${modules.errors}, and use it in ${modules.app}: node_modules/fastify-contract/docs/handlers.md has an example.`,
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
