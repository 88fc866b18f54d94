import { stringifyJson } from 'fastify-contract/json'
import { type ErrorNumber, errorTableOf } from '../document/error-numbers.ts'
import type { Document } from '../document/openapi-document.ts'
import { type At, type Kind, type Node, walkObjects } from '../document/walk-document.ts'
import { refusal } from '../reports/reports.ts'

/** Returns one line for each problem of the table of error numbers; none if the document has no table. */
export function errorNumberProblems(document: Document): string[] {
  const table = errorTableOf(document)
  if (table === undefined) return []
  const seen = new Set<number>()
  const problems: string[] = []
  for (const [name, entry] of Object.entries(table)) {
    const { error, meaning } = Object(entry) as ErrorNumber
    const pointer = `#/x-error-numbers/${name}`
    if (!/^[a-z][A-Za-z]*$/.test(name))
      problems.push(refusal('error-number', pointer, 'the name must be an identifier in camelCase; rename it'))
    if (!Number.isInteger(error) || error < 40_000 || error > 59_999) {
      problems.push(
        refusal(
          'error-number',
          `${pointer}/error`,
          'must be an HTTP status from 400 to 599, times 100, plus a number below 100',
        ),
      )
    }
    if (seen.size === seen.add(error).size)
      problems.push(
        refusal('error-number', `${pointer}/error`, `${error} occurs twice; give each error its own number`),
      )
    if (typeof meaning !== 'string')
      problems.push(refusal('error-number', `${pointer}/meaning`, 'must be a string that describes the error'))
  }
  return [...problems, ...unknownNumbers(document, seen)]
}

/** Returns one line for each error number in the description or an example of a response that is not in the table. */
function unknownNumbers(document: Document, known: Set<number>): string[] {
  const problems: string[] = []
  function checkResponse(node: Node, kind: Kind, at: At): void {
    if (kind !== 'response') return
    const pointer = at()
    const { description = '', content = {} } = node as { description?: string; content?: Record<string, Node> }
    const isError = /\/([45]\w\w|default)$/.test(pointer)
    const examples = String(stringifyJson(Object.values(content).map(shownIn)))
    const told = [...(isError ? (description.match(/\b[45]\d{4}\b/g) ?? []) : []), ...numbersIn(examples)]
    for (const number of told) {
      if (!known.has(Number(number)))
        problems.push(refusal('error-number', pointer, `${number} is not in x-error-numbers; add it there`))
    }
  }

  walkObjects(document, checkResponse)
  return problems
}

const shownIn = (media: unknown): unknown[] => [Object(media).example, Object(media).examples]

/** Returns the error numbers in the JSON text of examples: the values of the member `error`. */
const numbersIn = (examples: string): string[] =>
  Array.from(examples.matchAll(/"error":([45]\d{4})\b/g), ([, number = '']) => number)
