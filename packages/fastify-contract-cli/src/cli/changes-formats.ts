import { severities } from '../changes/change-severity.ts'
import type { Change } from '../changes/contract-changes.ts'
import { codeSpan, workflowProperty, workflowText } from '../text/foreign-text.ts'
import { visible } from '../text/source-text.ts'

/** The changes of a document, the most severe first. */
export type Summary = {
  /** The path of the document. */
  document: string
  /** What it is compared with: a version, or a path. */
  since: string
  /** The lowest version that the changes allow; undefined if versions do not count. */
  next: string | undefined
  changes: Change[]
}

/** The values of --format. */
export type Format = keyof typeof formats

/** Returns what `changes` prints, by --format. */
export const formats = {
  text(summary: Summary): string {
    const lines = summary.changes.map(({ place, weight, what }) => visible(`${place} ${weight}: ${what}`))
    return [...lines, summaryOf(summary)].join('\n')
  },
  json({ since, next = null, changes }: Omit<Summary, 'next'> & { next?: string | null | undefined }): string {
    const listed = changes.map(({ place, weight, what }) => ({ severity: weight, place, change: what }))
    return JSON.stringify({ since, next, changes: listed }, null, 2)
  },
  github(summary: Summary): string {
    const lines = summary.changes.map(({ place, weight, what }) => {
      const [, file = place, line = '1', column = '1'] = /^(.*):(\d+):(\d+)$/s.exec(place) ?? []
      const level = weight === 'breaking' ? 'warning' : 'notice'
      return `::${level} file=${workflowProperty(file)},line=${line},col=${column},title=${weight}::${workflowText(visible(what))}`
    })
    return [...lines, summaryOf(summary)].join('\n')
  },
  markdown({ document, next, changes }: Summary): string {
    if (changes.length === 0) return `### No changes of ${codeSpan(document)}`
    const lines = [`### Changes of ${codeSpan(document)}: ${countsOf(changes)}`, '']
    if (next !== undefined) lines.push(`The next version is ${next}.`, '')
    let room = maxMarkdown
    let told = 0
    for (const { weight, place, what } of changes) {
      const line = `- ${weight === 'breaking' ? '**breaking**' : weight} ${codeSpan(shortened(what))} at ${codeSpan(place)}`
      room -= line.length + 1
      if (room < 0) break
      lines.push(line)
      told += 1
    }
    const more = told < changes.length ? ['', `${changes.length - told} more changes`] : []
    return [...lines, ...more].join('\n')
  },
}

/**
 * The length of the list of changes in Markdown. A comment on GitHub has at most 65,536 characters. The text of a
 * document is in code spans, where GitHub reads no mentions, links or HTML.
 */
const maxMarkdown = 50_000

/** The length of the text of a change in Markdown. */
const maxText = 500

const shortened = (text: string): string => (text.length > maxText ? `${text.slice(0, maxText).toWellFormed()}…` : text)

function summaryOf({ since, next, changes }: Summary): string {
  if (changes.length === 0) return `no changes since ${since}`
  return `since ${since}: ${countsOf(changes)}${next === undefined ? '' : `; the next version is ${next}`}`
}

const countsOf = (changes: Change[]): string =>
  severities.map((name) => `${changes.filter(({ weight }) => weight === name).length} ${name}`).join(', ')
