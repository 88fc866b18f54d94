import { existsSync } from 'node:fs'
import { sourcePlaces } from '../changes/source-places.ts'
import type { ContractTestResult, OperationName } from '../contract-test/contract-test.ts'
import type { ReportContext } from '../contract-test/reports/report-context.ts'
import { join } from '../document/json-pointer.ts'
import { shellPath, shellWord } from '../text/foreign-text.ts'
import type { ProjectDocument } from './project-documents.ts'

/**
 * Returns a function that returns the place of an operation in the files of the document. It knows none if there are no
 * failures to place, and for a document at a URL or without a file.
 */
export async function operationPlaces(
  one: ProjectDocument,
  { failures }: ContractTestResult,
): Promise<ReportContext['placeOf']> {
  const path = pathOf(one)
  if (failures.length === 0 || path === undefined || !existsSync(path)) return () => undefined
  const placeOf = await sourcePlaces(path, { overlays: one.overlays() }).catch(() => undefined)
  return ({ method, path }: OperationName) => placeOf?.(join('#', 'paths', path, method.toLowerCase()))
}

function pathOf(one: ProjectDocument): string | undefined {
  try {
    return one.path()
  } catch {
    return undefined
  }
}

/** Returns a function that returns the command which tests an operation again, with these options. */
export function repeatCommand(
  { document, ...options }: Record<string, string | undefined>,
  seed: number,
): ReportContext['repeat'] {
  const words = Object.entries({ ...options, seed: String(seed) }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${shellPath(value)}`],
  )
  const given = document === undefined ? '' : ` ${shellPath(document)}`
  return ({ operationId }) =>
    `npx fastify-contract test${given} ${words.join(' ')} --operation ${shellWord(operationId)}`
}
