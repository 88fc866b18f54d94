import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { tscOf } from './project-compiler.ts'

/**
 * Type-checks a module and every file that it imports, including generated types, with the tsc and the tsconfig.json of
 * the current directory. Rejects with the compiler's messages, in the same words whichever version of TypeScript it is.
 *
 * @param directory Where to write a temporary configuration. It is below the current directory, so that the compiler
 *   finds the same packages.
 */
export async function checkTypes(module: string, directory: string): Promise<void> {
  const own = resolve('tsconfig.json')
  const base = existsSync(own) ? { extends: own, compilerOptions: {} } : { compilerOptions: defaultOptions }
  const configuration = {
    ...base,
    compilerOptions: { ...base.compilerOptions, ...withoutOutput },
    files: [resolve(module)],
    // Global declarations have no importer.
    include: [join(dirname(resolve(module)), '**', '*.d.ts')],
    references: [],
  }
  await mkdir(directory, { recursive: true })
  const path = join(directory, 'tsconfig.json')
  await writeFile(path, JSON.stringify(configuration))
  // No incremental check: the compiler would not recheck the modules that use types which a changed module augments.
  const args = [tscOf('.'), '--project', path, '--pretty']
  const { failed, output } = await execute(process.execPath, args, { maxBuffer }).then(
    () => ({ failed: false, output: '' }),
    ({ stdout, stderr }) => ({ failed: true, output: `${stdout}${stderr}` }),
  )
  if (!failed) return
  const findings = findingsOf(output)
  const text = findings.length === 0 ? output.trim() : findings.map(({ text }) => text).join('\n\n')
  throw new Error(process.stderr.isTTY ? text : stripVTControlCharacters(text))
}

const execute = promisify(execFile)

/** The maximum length of the messages in bytes. Beyond it the compiler is killed, and only these are shown. */
const maxBuffer = 2 ** 24

/** The options of a project without tsconfig.json. */
const defaultOptions = { strict: true, target: 'ES2023', module: 'NodeNext', allowImportingTsExtensions: true }

/** A composite project would have to list the files that the module imports; the others need one or an output. */
const withoutOutput = {
  noEmit: true,
  composite: false,
  incremental: false,
  isolatedDeclarations: false,
  emitDeclarationOnly: false,
}

/** A message of the compiler with the lines of source text that it shows. */
type Finding = { path: string; line: number; column: number; text: string }

/** Matches the first line of a message, whose place is missing if it concerns the configuration. */
const header = /^(?:(\S.*?):(\d+):(\d+) - )?error TS\d+: /

/**
 * Returns the messages in the output of `tsc --pretty`, sorted by their places. Related places are left out, since the
 * versions of TypeScript show different ones, and so is the summary at the end.
 */
function findingsOf(output: string): Finding[] {
  const lines = output.split(/\r?\n/)
  const starts = Array.from(lines.keys()).filter((index) =>
    header.test(stripVTControlCharacters(lines[index] as string)),
  )
  return starts
    .map((start, index) => findingOf(lines.slice(start, starts[index + 1])))
    .sort((a, b) => compareTexts(a.path, b.path) || a.line - b.line || a.column - b.column)
}

function findingOf(lines: string[]): Finding {
  const [first = ''] = lines
  const [prefix = '', path = '', line, column] = header.exec(stripVTControlCharacters(first)) ?? []
  const message = stripVTControlCharacters(first).slice(prefix.length)
  const end = lines.indexOf('')
  const [cause, ...around] = causeFirst([message, ...lines.slice(1, end < 0 ? undefined : end)])
  const source = lines.filter((line) => line.startsWith(inverse))
  return {
    path,
    line: Number(line),
    column: Number(column),
    text: [`${first.slice(0, first.length - message.length)}${cause}`, ...around, ...source].join('\n'),
  }
}

/** The control sequence with which the line numbers of source text begin. */
const inverse = '\u001B[7m'

/** The maximum length of a line of a message: some types have hundreds of characters. */
const maxLength = 160

/**
 * Returns the lines of a message so that they begin with the cause. The compiler puts the cause last, below a less
 * indented line for each type around it; of these only the first, and those that name a property, remain.
 */
function causeFirst(lines: string[]): string[] {
  const chain: string[] = []
  let depth = Number.POSITIVE_INFINITY
  for (const line of lines.toReversed()) {
    const indent = line.search(/\S/)
    if (indent < depth) chain.push(withSortedLiterals(line.trim()))
    depth = Math.min(indent, depth)
  }
  const [cause = '', ...around] = chain
  const kept = around.filter((line, index) => index === around.length - 1 || /^(The types|Types) of /.test(line))
  return [cause, ...kept.map((line) => `  ${line}`)].map(shortened)
}

const shortened = (line: string): string => (line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line)

/** Sorts unions of literals: TypeScript 5.9 lists their members in the order in which it has met them. */
const withSortedLiterals = (line: string): string =>
  line.replace(literals, (union) => (union.match(literal) as string[]).sort(compareTexts).join(' | '))

const literal = /"[^"]*"|-?\b\d+n?\b/g
const literals = new RegExp(`(?:${literal.source})(?: \\| (?:${literal.source}))+(?![\\w[])`, 'g')

/** Compares texts in which numbers count as such. */
const compareTexts = new Intl.Collator('en', { numeric: true }).compare
