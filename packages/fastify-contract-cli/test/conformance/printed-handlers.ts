import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AnyHandler } from 'fastify-contract'
import { diagnose } from 'fastify-contract-test-support/compiler'
import { ownPath } from '../support/own-path.ts'
import type { Generated } from './generated-documents.ts'

/** A document, or part of one, that can be served. */
export type Served = Required<Generated>

/** Returns whether a document has operations that can be served. */
export const isServed = (document: Generated): document is Served => document.files !== undefined

/** Returns the compiler's diagnostics of the documents' printed handlers, compiled in one program. */
export function diagnosePrinted(documents: Served[]): string[] {
  const head = [
    "import { ContractError } from 'fastify-contract'",
    "import type { Handlers } from './handler-types.d.ts'",
    'export const handlers: Handlers = {',
  ]
  const texts = documents.map(({ name, files, handlers }) => {
    const folder = `${ownPath('test/conformance')}/${name.replaceAll('/', '-')}`
    return {
      module: `${folder}/handlers.ts`,
      text: [...head, ...handlers, '}', 'export const used = ContractError\n'].join('\n'),
      types: ['api.d.ts', 'handler-types.d.ts'].map((file): [string, string] => [
        `${folder}/${file}`,
        files[file] as string,
      ]),
    }
  })
  return diagnose(
    texts.map(({ module }) => module),
    Object.fromEntries(texts.flatMap(({ module, text, types }) => [[module, text], ...types])),
  )
}

/** Loads the printed handlers of a document; without their types they are JavaScript. */
export async function printedHandlers(
  { name, handlers }: Served,
  directory: string,
): Promise<Record<string, AnyHandler>> {
  const path = join(directory, `${name.replaceAll('/', '-')}.mjs`)
  // No call gets an invalid example, so the error of the handlers without one need not be that of the engine.
  writeFileSync(
    path,
    `class ContractError extends Error {}\nexport const handlers = {\n${handlers.join('\n').replaceAll(returnType, ' {')}\n}\n`,
  )
  const module: { handlers: Record<string, AnyHandler> } = await import(pathToFileURL(path).href)
  return module.handlers
}

const returnType = /: ReturnType<Handlers\[.*\]> \{$/gm
