import type { RejectedDocument } from '../../src/rules/problems.ts'

/** Returns the lines of a rejection without its summary, sorted by place and not by cost; that of the document first. */
export function refusalLines({ message }: Pick<RejectedDocument, 'message'>): string[] {
  const [head = '', ...lines] = message.replace(/\n\d+ problems? affects? [^\n]*$/, '').split('\n  ')
  const placeOf = (line: string) => line.slice(0, line.indexOf(': '))
  const { compare } = new Intl.Collator('en', { numeric: true })
  return [head, ...lines.sort((one, other) => compare(placeOf(one), placeOf(other)))]
}
