import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AnyHandler } from '../../src/openapi/request-steps.ts'
import { diagnose } from '../support/compiler.ts'
import type { Generated } from './generated-documents.ts'

/** A document, or a part of it, that can be served. */
export type Served = Required<Generated>

export const isServed = (document: Generated): document is Served => document.files !== undefined

/** Returns what the compiler says of the printed handlers of documents, all in one program. */
export function diagnosePrinted(documents: Served[]): string[] {
  const head = [
    "import type { Handlers } from '../../../src/openapi/handler-types.ts'",
    "import type { operations } from './api.d.ts'",
    'export const handlers: Handlers<operations> = {',
  ]
  const texts = documents.map(({ name, files, handlers }) => {
    const folder = `test/conformance/${name.replaceAll('/', '-')}`
    return {
      module: `${folder}/handlers.ts`,
      text: [...head, ...handlers, '}\n'].join('\n'),
      types: `${folder}/api.d.ts`,
      api: files['api.d.ts'] as string,
    }
  })
  return diagnose(
    texts.map(({ module }) => module),
    Object.fromEntries(
      texts.flatMap(({ module, text, types, api }) => [
        [module, text],
        [types, api],
      ]),
    ),
  )
}

/** Returns the printed handlers of a document; they are JavaScript but for the head that gives them their types. */
export async function printedHandlers(
  { name, handlers }: Served,
  directory: string,
): Promise<Record<string, AnyHandler>> {
  const path = join(directory, `${name.replaceAll('/', '-')}.mjs`)
  writeFileSync(path, `export const handlers = {\n${handlers.join('\n')}\n}\n`)
  const module: { handlers: Record<string, AnyHandler> } = await import(pathToFileURL(path).href)
  return module.handlers
}
