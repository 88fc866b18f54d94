import { stringifyJson } from 'fastify-contract/json'
import { withErrorTable } from '../document/error-numbers.ts'
import { keysOf } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import { lenientDocument } from '../passes/lenient/lenient-document.ts'
import { asPublished } from '../passes/normalize.ts'
import type { Bundle } from '../read/bundle-sources.ts'
import type { OverlayOptions } from '../read/overlays/overlays.ts'
import { readDocument } from '../read/read-document.ts'
import type { Sources } from '../read/source-files.ts'
import { bundleWith, depthProblem } from '../redocly/redocly.ts'
import { type PlaceLine, RejectedDocument } from '../rules/problems.ts'
import { type CheckOptions, type Served, servedDocument } from './served-document.ts'

/** How a document is compiled. */
export type CompileOptions = Pick<CheckOptions, 'errors' | 'skipUnsupported'> &
  OverlayOptions & {
    /** The configuration for bundling, such as its decorators; default: redocly.yaml if there is one. */
    rules?: string | undefined
    /** The files of the document; default: they are read, and overlays applied. */
    sources?: Sources
    /** Called with what begins. */
    onStep?: (text: string) => void
  }

/**
 * Returns the text of openapi.json, with which documents are compared, without making the other files. Rejects with a
 * RejectedDocument like `compileContract`.
 */
export const publishedDocument = async (path: string, options: CompileOptions = {}): Promise<string> =>
  documentTextOf(await checkedDocument(path, options))

/**
 * Returns what the generated files are made of, without making them. Rejects with a RejectedDocument like
 * `compileContract`.
 */
export async function checkedDocument(path: string, options: CompileOptions = {}): Promise<Served> {
  const { bundled, given, placed } = await bundledContract(path, options)
  const { document } = bundled
  try {
    return withinDepth(document, path, function check() {
      options.onStep?.('checking the document')
      const { mended } = lenientDocument(document, given.textAt, given.unresolved)
      return servedDocument(mended, path, given)
    })
  } catch (error) {
    throw error instanceof RejectedDocument ? error.placed(placed) : error
  }
}

/** Reads and bundles the document at `path`, and returns how it is compiled, and what adds places to lines about it. */
export async function bundledContract(path: string, options: CompileOptions) {
  const { onStep, overlays, insteadOf } = options
  if (options.sources === undefined) onStep?.(`reading ${path}`)
  const sources = options.sources ?? (await readDocument(path, { overlays, insteadOf }))
  onStep?.('bundling')
  const bundled = await bundleWith(sources, options.rules)
  const [source] = sources.files.values()
  const textAt = (pointer: string) => (bundled.isElsewhere(pointer) ? undefined : source?.textAt(keysOf(pointer)))
  const given = { ...options, textAt, unresolved: bundled.problems }
  return { sources, bundled, given, placed: placesIn(bundled) }
}

/** Returns a function that adds the places of locations to lines about them. */
const placesIn =
  ({ placeOf }: Pick<Bundle, 'placeOf'>): PlaceLine =>
  (line, pointer) =>
    `${line} (${placeOf(pointer)})`

/** Returns the text of a document as it is published. */
export const documentTextOf = ({ published }: Served): string => json(withErrorTable(asPublished(published)))

/** Returns what `run` makes of a document. Throws a RejectedDocument if the document is too deep for it. */
export function withinDepth<Result>(given: Document, path: string, run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    const problem = depthProblem(error)
    if (problem === undefined) throw error
    throw new RejectedDocument(path, [{ pointer: '#', text: problem, operations: [] }], given)
  }
}

/** Returns the text of a file. Few documents have a bigint, for which JSON.stringify, which is faster, throws. */
export function json(value: unknown): string {
  try {
    if (!('toJSON' in BigInt.prototype)) return `${JSON.stringify(value, null, 2)}\n`
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
  return `${stringifyJson(value, '  ')}\n`
}
