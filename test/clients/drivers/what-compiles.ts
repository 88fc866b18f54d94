import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { BuildContext } from '../driver.ts'

/** Where a compiler found a mistake. */
export type Place = { file: string; line: number; message: string }

type Documents = ReturnType<BuildContext['documentsWithout']>
type Document = { paths: Record<string, Record<string, { operationId: string }>>; components: Components }
type Components = Record<string, Record<string, unknown>>

/**
 * Generates a client into the folder `generated`, and leaves out each operation whose code does not compile, until the
 * rest does.
 *
 * @param compile Returns the places of mistakes.
 * @param declaration Finds the name of an operation in the line that begins its code.
 * @param refused Operations that the generator refuses, with the reasons.
 * @returns The operations that were left out, with the reasons.
 */
export async function generateWhatCompiles(
  context: BuildContext,
  generate: (context: BuildContext) => Promise<void>,
  compile: () => Promise<Place[]>,
  declaration: RegExp,
  refused: Record<string, string> = {},
): Promise<Record<string, string>> {
  const missing = { ...refused }
  let documents: Documents = context.documentsWithout(Object.keys(missing))
  for (let round = 0; round < 8; round++) {
    rmSync(join(context.directory, 'generated'), { recursive: true, force: true })
    await generate({ ...context, ...documents })
    const places = await compile()
    if (places.length === 0) return missing
    const found = operationsAt(places, JSON.parse(readFileSync(documents.documentJson, 'utf8')), declaration)
    if (Object.keys(found).length === 0) throw new Error(`no operation belongs to ${JSON.stringify(places)}`)
    Object.assign(missing, found)
    documents = context.documentsWithout(Object.keys(missing))
  }
  throw new Error(`the code does not compile without ${Object.keys(missing).join(', ')}`)
}

/** Returns the operations to which mistakes belong: by the declaration before the line, or by the model of the file. */
function operationsAt(places: Place[], document: Document, declaration: RegExp): Record<string, string> {
  const found: Record<string, string> = {}
  for (const { file, line, message } of places) {
    const before = readFileSync(file, 'utf8').split('\n').slice(0, line)
    const name = declaration.exec(before.findLast((text) => declaration.test(text)) ?? '')?.[1]
    const model = /(\w+)\.\w+$/.exec(file)?.[1] ?? ''
    for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
      const isOwn = name !== undefined && isSameName(name, operation.operationId)
      const needsModel = [...schemasOf(operation, document.components)].some((schema) => isSameName(schema, model))
      if (isOwn || needsModel) found[operation.operationId] ??= message
    }
  }
  return found
}

/** Returns the names of the schemas that a part of a document refers to, directly or by others. */
function schemasOf(part: unknown, components: Components, found = new Set<string>()): Set<string> {
  for (const [, kind = '', name = ''] of JSON.stringify(part).matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
    if (found.has(name)) continue
    if (kind === 'schemas') found.add(name)
    schemasOf(components[kind]?.[name], components, found)
  }
  return found
}

/** Compares two names by their letters and digits, which each language writes in a form of its own. */
export const isSameName = (one: string, other: string): boolean => bare(one) === bare(other)

const bare = (name: string): string => name.toLowerCase().replaceAll(/[^a-z\d]/g, '')
