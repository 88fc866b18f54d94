import { engineTypes, moduleFindings, type TypeFiles } from '../typescript/virtual-program.ts'
import type { DerivedErrorBody } from './error-body.ts'
import { compilerOptions } from './project.ts'

/** Returns the derived module if it has the types of the document. */
export function checkedErrorBody(derived: DerivedErrorBody, types: TypeFiles): DerivedErrorBody {
  if ('reasons' in derived) return derived
  const text = derived.text
    .replace("'fastify-contract'", `'${engineTypes}'`)
    .replace("'../generated/api.d.ts'", "'./api.d.ts'")
    // The types of Node.js are installed with the project.
    .replace(/^import (.*) from 'node:http'$/m, 'declare const STATUS_CODES: Record<string, string | undefined>')
  const [finding] = moduleFindings(text, types, compilerOptions)
  return finding === undefined ? derived : { reasons: [finding.message] }
}
