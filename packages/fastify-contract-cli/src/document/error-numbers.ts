import { serviceErrors } from 'fastify-contract/contract'
import { lineText } from '../text/source-text.ts'
import type { Document } from './openapi-document.ts'

/** One entry of the table in x-error-numbers, whose keys are the names that the code uses. */
export type ErrorNumber = { error: number; meaning: string }

/** Returns the table of error numbers of a document; undefined if it has none. */
export const errorTableOf = (document: Document): Record<string, ErrorNumber> | undefined =>
  (document as { 'x-error-numbers'?: Record<string, ErrorNumber> })['x-error-numbers']

/** The placeholder in info.description that the published document replaces with the table. */
const placeholder = '{{x-error-numbers}}'

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
