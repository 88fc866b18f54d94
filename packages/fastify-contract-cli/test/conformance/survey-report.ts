import type { Measured } from './survey.ts'

/** What one kind of problem costs. */
type Kind = {
  /** The number of operations that it costs, by document. */
  lost: Map<string, number>
  /** The number of operations that no other kind costs. */
  alone: number
  example: string
}

/** Above these, what a document takes is listed. */
const limits = { milliseconds: 10_000, megabytes: 1_024 }

/** Returns lines with what is served of some documents, and the kinds of problems, those that cost most first. */
export function surveyReport(title: string, documents: Measured[]): string[] {
  const whole = documents.filter(({ isWhole }) => isWhole).length
  const operations = sum(documents.map((one) => one.operations))
  const served = sum(documents.map((one) => one.served))
  const warned = documents.filter(({ warnings }) => warnings > 0)
  const crashes = documents.filter(({ crash }) => crash !== undefined).length
  const kinds = [...kindsIn(documents)].sort(([, one], [, other]) => sum(other.lost.values()) - sum(one.lost.values()))
  return [
    `${title}: ${share(whole, documents.length)} documents whole, ${share(served, operations)} operations`,
    `${crashes} crashes; ${sum(warned.map(({ warnings }) => warnings))} warnings in ${warned.length} documents`,
    'operations, of them by this kind alone, documents, kind, example:',
    ...kinds.map(([text, { lost, alone, example }]) => {
      const columns = [sum(lost.values()), alone, lost.size].map((one) => String(one).padStart(5))
      return `${columns.join('')}  ${text}  [${example}]`
    }),
    '',
  ]
}

/** Returns lines with the stacks of crashes, and the documents that took much. */
export const oddities = (documents: Measured[]): string[] =>
  documents.flatMap(({ file, crash, milliseconds, megabytes }) => [
    ...(crash === undefined ? [] : [`crash: ${file}: ${crash}`]),
    ...(milliseconds > limits.milliseconds || megabytes > limits.megabytes
      ? [`costly: ${file}: ${milliseconds} ms of CPU, ${megabytes} MB`]
      : []),
  ])

function kindsIn(documents: Measured[]): Map<string, Kind> {
  const kinds = new Map<string, Kind>()
  for (const { file, operations, problems, crash = '' } of documents) {
    const found = crash === '' ? problems : [{ pointer: '#', text: `crash: ${crash.split('\n')[0]}`, operations: [] }]
    // A problem without operations costs those of the whole document.
    const isWhole = found.some((one) => one.operations.length === 0)
    const byKind = new Map<string, Set<string>>()
    for (const { pointer, text, operations } of found) {
      const kind = kindOf(text)
      if (!kinds.has(kind)) kinds.set(kind, { lost: new Map(), alone: 0, example: `${file} ${pointer}` })
      byKind.set(kind, new Set([...(byKind.get(kind) ?? []), ...operations]))
    }
    for (const [kind, own] of byKind) {
      const entry = kinds.get(kind) as Kind
      const others = new Set([...byKind].flatMap(([other, names]) => (other === kind ? [] : [...names])))
      entry.lost.set(file, isWhole ? operations : own.size)
      if (isWhole) entry.alone += byKind.size === 1 ? operations : 0
      else entry.alone += [...own].filter((name) => !others.has(name)).length
    }
  }
  return kinds
}

/** Returns the text of a problem without what differs from document to document. */
const kindOf = (text: string): string =>
  text
    .replace(/ \([^()]*:\d+:\d+(?:, ([\w-]+))?\)/g, (_place, rule) => (rule === undefined ? '' : ` (${rule})`))
    .replace(/: ENOENT: .*?(?= \([\w-]+\)$|$)/, '')
    .replace(/^.*(?= could take more)/s, 'PATTERN')
    .replace(/`[^`]*`|"[^"]*"|'[^']*'|(?<=\b(?:operationId|parameter|property) )[^\s:]+/g, 'NAME')
    .replace(/\S*#\/\S*/g, 'POINTER')
    .replace(/(?<!\S)(?!(?:application|image|multipart|text)\/)\S*\/\S+/g, 'PATH')
    .replace(/^[A-Z]+ (?=PATH)|^\S+ (?=is not in POINTER)/, 'NAME ')
    .replace(/\d+/g, 'N')
    .replace(/NAME(?:(?:,| or| and)* NAME)+/g, 'NAMES')
    .slice(0, 200)

const share = (part: number, all: number): string => `${part} of ${all} (${((100 * part) / all).toFixed(1)} %)`

function sum(numbers: Iterable<number>): number {
  let total = 0
  for (const one of numbers) total += one
  return total
}
