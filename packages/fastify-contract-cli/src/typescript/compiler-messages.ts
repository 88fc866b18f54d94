import { existsSync, readFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import type ts from 'typescript'
import { compiler } from './typescript.ts'

/**
 * Returns the messages in the output of `tsc --pretty`, each with its cause first and with the handler that it is about.
 * An output without messages is returned as it is.
 */
export function messagesOf(output: string): string {
  const findings = findingsOf(output)
  return findings.length === 0 ? output.trim() : findings.map(({ text }) => text).join('\n\n')
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
  const handlerAt = handlerFinder()
  const lines = output.split(/\r?\n/)
  const starts = Array.from(lines.keys()).filter((index) =>
    header.test(stripVTControlCharacters(lines[index] as string)),
  )
  return starts
    .map((start, index) => findingOf(lines.slice(start, starts[index + 1]), handlerAt))
    .sort((a, b) => compareTexts(a.path, b.path) || a.line - b.line || a.column - b.column)
}

function findingOf(lines: string[], handlerAt: HandlerFinder): Finding {
  const [first = ''] = lines
  const [prefix = '', path = '', line, column] = header.exec(stripVTControlCharacters(first)) ?? []
  const message = stripVTControlCharacters(first).slice(prefix.length)
  const end = lines.indexOf('')
  const [cause, ...around] = causeFirst([message, ...lines.slice(1, end < 0 ? undefined : end)])
  const source = lines.filter((line) => line.startsWith(inverse))
  const handler = handlerAt(path, Number(line), Number(column))
  const place = handler === undefined ? [] : [`  in ${handler}`]
  return {
    path,
    line: Number(line),
    column: Number(column),
    text: [`${first.slice(0, first.length - message.length)}${cause}`, ...around, ...place, ...source].join('\n'),
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
  const kept = around.filter((line, index) =>
    index === around.length - 1 ? !isHandlerType.test(line) : /^(The types|Types) of /.test(line),
  )
  return [withNamesFirst(cause), ...kept.map((line) => `  ${line}`)].map(shortened)
}

/** Matches the line about the type of a whole handler, which names the operation alone beside its types. */
const isHandlerType = /^Type '.*' is not assignable to type 'Handler<.*>'\.$/

/** Messages about members, with the words in which the names precede the types, which may have hundreds of characters. */
const rewritten: [pattern: RegExp, text: string][] = [
  [/^Property '.*' is missing in type '.*' but required in type 'NoDeclaredHeaders'\.$/, noHeaders('no headers')],
  [/^Type '(.*)' has no properties in common with type '\w+Headers'\.$/, noHeaders('none of $1')],
  [
    /^Object literal .* '(.*)' does not exist in type '(?:\w+ \| )*\w+Headers(?: \| \w+)*'\..*$/,
    noHeaders('no header $1'),
  ],
  [/^Property ('.*') does not exist on type 'NoDeclaredParameters'\.$/, 'The document declares no parameter $1 here.'],
  [/^Object literal .* ('.*') does not exist in type ('.*'\..*)$/, 'Property $1 does not exist in type $2'],
  [
    /^Property ('.*?') is missing in type '.*' but required in type ('.*')\.$/,
    'Property $1 is missing; type $2 requires it.',
  ],
  [
    /^Type '.*' is missing the following properties from type ('.*'): (.*?)\.?$/,
    'Properties $2 are missing; type $1 requires them.',
  ],
]

// A declaration, unlike a constant, exists above.
function noHeaders(which: string): string {
  return `The document declares ${which} for this response.`
}

function withNamesFirst(line: string): string {
  const [pattern, text = ''] = rewritten.find(([pattern]) => pattern.test(line)) ?? []
  return pattern === undefined ? line : line.replace(pattern, text)
}

const shortened = (line: string): string => (line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line)

/** Sorts unions of literals: TypeScript 5.9 lists their members in the order in which it has met them. */
const withSortedLiterals = (line: string): string =>
  line.replace(literals, (union) => (union.match(literal) as string[]).sort(compareTexts).join(' | '))

const literal = /"[^"]*"|-?\b\d+n?\b/g
const literals = new RegExp(`(?:${literal.source})(?: \\| (?:${literal.source}))+(?![\\w[])`, 'g')

/** Compares texts in which numbers count as such. */
const compareTexts = new Intl.Collator('en', { numeric: true }).compare

/** Returns the name of the handler at a place of a file, whose lines and columns count from 1; undefined outside of one. */
type HandlerFinder = (path: string, line: number, column: number) => string | undefined

/** Returns a function that finds handlers: it reads each file once. */
function handlerFinder(): HandlerFinder {
  const files = new Map<string, ts.SourceFile | undefined>()
  return handlerAt

  function handlerAt(path: string, line: number, column: number): string | undefined {
    if (!files.has(path)) files.set(path, parsedFile(path))
    const file = files.get(path)
    const start = file?.getLineStarts()[line - 1]
    return file === undefined || start === undefined ? undefined : memberAround(file, file, start + column - 1)
  }
}

const parsedFile = (path: string): ts.SourceFile | undefined =>
  existsSync(path)
    ? compiler.createSourceFile(path, readFileSync(path, 'utf8'), compiler.ScriptTarget.Latest)
    : undefined

/** Returns the name of the innermost method at a position, or of the innermost function that is a member of an object. */
function memberAround(file: ts.SourceFile, node: ts.Node, position: number): string | undefined {
  const child = compiler.forEachChild(node, (each) =>
    each.getFullStart() <= position && position < each.getEnd() ? each : undefined,
  )
  if (child === undefined) return undefined
  const inner = memberAround(file, child, position)
  if (inner !== undefined || !isMemberFunction(child)) return inner
  return compiler.isStringLiteralLike(child.name) ? child.name.text : child.name.getText(file)
}

const isMemberFunction = (node: ts.Node): node is ts.MethodDeclaration | ts.PropertyAssignment =>
  compiler.isMethodDeclaration(node) ||
  (compiler.isPropertyAssignment(node) &&
    (compiler.isArrowFunction(node.initializer) || compiler.isFunctionExpression(node.initializer)))
