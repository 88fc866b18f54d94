import {
  contentNegotiation,
  type ErrorName,
  type Operation,
  requestKindOf,
  serviceErrors,
} from 'fastify-contract/contract'
import { refusal } from '../reports/reports.ts'
import { lineText } from '../text/source-text.ts'
import type { Document } from './openapi-document.ts'
import { type Node, walk } from './walk-document.ts'

/** One entry of the table in x-error-numbers, whose keys are the names that the code uses. */
export type ErrorNumber = { error: number; meaning: string }

/** Returns the table of error numbers of a document; undefined if it has none. */
export const errorTableOf = (document: Document): Record<string, ErrorNumber> | undefined =>
  (document as { 'x-error-numbers'?: Record<string, ErrorNumber> })['x-error-numbers']

/** The placeholder in info.description that the published document replaces with the table. */
const placeholder = '{{x-error-numbers}}'

/** Returns one line for each problem of the table of error numbers; none if the document has no table. */
export function errorNumberProblems(document: Document): string[] {
  const table = errorTableOf(document)
  if (table === undefined) return []
  const seen = new Set<number>()
  const problems = Object.entries(table).flatMap(([name, entry]) => {
    const { error, meaning } = Object(entry) as ErrorNumber
    const pointer = `#/x-error-numbers/${name}`
    const problems = []
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
    return problems
  })
  return [...problems, ...unknownNumbers(document, seen)]
}

/** Returns one line for each error number in the description or an example of a response that is not in the table. */
function unknownNumbers(document: Document, known: Set<number>): string[] {
  const problems: string[] = []
  walk(document as Node, 'document', '#', (node, kind, pointer) => {
    if (kind !== 'response') return
    const { description = '', content = {} } = node as { description?: string; content?: Record<string, Node> }
    const isError = /\/([45]\w\w|default)$/.test(pointer)
    const examples = JSON.stringify(Object.values(content).map(shownIn))
    const told = [...(isError ? (description.match(/\b[45]\d{4}\b/g) ?? []) : []), ...numbersIn(examples)]
    for (const number of told) {
      if (!known.has(Number(number)))
        problems.push(refusal('error-number', pointer, `${number} is not in x-error-numbers; add it there`))
    }
  })
  return problems
}

const shownIn = (media: unknown): unknown[] => [Object(media).example, Object(media).examples]

/** Returns the error numbers in the JSON text of examples: the values of the member `error`. */
const numbersIn = (examples: string): string[] =>
  Array.from(examples.matchAll(/"error":([45]\d{4})\b/g), ([, number = '']) => number)

/** Returns the published document, with the table of errors in place of the placeholder in its description. */
export function withErrorTable(document: Document): Document {
  const { description } = document.info
  const table = errorTableOf(document)
  if (table === undefined || !description?.includes(placeholder)) return document
  const rows = Object.values(table).map(
    ({ error, meaning }) => `| ${error} | ${Math.trunc(error / 100)} | ${lineText(meaning).replaceAll('|', '\\|')} |`,
  )
  const text = ['| error | status | meaning |', '|---|---|---|', ...rows].join('\n')
  return { ...document, info: { ...document.info, description: description.replace(placeholder, () => text) } }
}

/** Returns the error numbers by name: those of the document's table or, without a table, those of `serviceErrors`. */
export const errorNumbersOf = (document: Document): Record<string, number> =>
  Object.fromEntries(Object.entries(errorTableOf(document) ?? serviceErrors).map(([name, { error }]) => [name, error]))

/** When an error of the service itself occurs. */
export type Occurrence = {
  /** Returns whether it may end a request to an operation; absent if such requests do not reach an operation. */
  ends?: (operation: Operation) => boolean
  /** Whether it occurs before routing has found the operation, or both before and after that; default: only after. */
  occurs?: 'before' | 'both'
}

const always = () => true
const hasBody = ({ schema }: Operation) => schema.body !== undefined
/** Fastify rejects a body that it has no parser for, unless the method is GET or HEAD; the operation need not have one. */
const readsBody = ({ method, schema }: Operation) => schema.body !== undefined || !['GET', 'HEAD'].includes(method)
const hasJsonBody = ({ schema }: Operation) =>
  Object.keys(schema.body?.content ?? {}).some((mediaType) => requestKindOf(mediaType) === 'json')
/** The router decodes paths and the query before the operation is known; split path parameters are decoded later. */
const hasDecodedText = ({ parameters }: Operation) =>
  parameters.some((parameter) => parameter.in === 'query' || parameter.segment !== undefined)
const isValidated = ({ schema, parameters }: Operation) => schema.body !== undefined || parameters.length > 0
const requiresCredentials = ({ security }: Operation) =>
  security.some((requirement) => Object.keys(requirement).length > 0)
const requiresScopes = ({ security }: Operation) =>
  security.some((requirement) => Object.values(requirement).some((scopes) => scopes.length > 0))

/** When each error of the service itself occurs. */
export const occurrences: Record<ErrorName, Occurrence> = {
  malformedRequest: { ends: always, occurs: 'both' },
  undecodableTarget: { ends: hasDecodedText, occurs: 'both' },
  notJson: { ends: hasJsonBody },
  invalid: { ends: isValidated },
  missingToken: { ends: requiresCredentials },
  invalidToken: { ends: requiresCredentials },
  insufficientScope: { ends: requiresScopes },
  noSuchPath: {},
  noSuchMethod: {},
  notAcceptable: { ends: ({ schema }) => contentNegotiation(schema) !== undefined },
  tooSlow: { ends: always, occurs: 'before' },
  bodyTooLarge: { ends: hasBody },
  unsupportedMediaType: { ends: readsBody },
  unsupportedEncoding: { ends: hasBody },
  expectationFailed: { ends: always, occurs: 'before' },
  tooManyRequests: { ends: always },
  headersTooLarge: { ends: always, occurs: 'before' },
  internal: { ends: always, occurs: 'both' },
  notImplemented: {},
  unavailable: { ends: always, occurs: 'both' },
}
