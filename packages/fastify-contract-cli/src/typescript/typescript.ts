import { createRequire } from 'node:module'
import type * as openapi from 'openapi-typescript'
import type ts from 'typescript'

/*
 * Both packages are loaded as CommonJS, which saves half a second of each command: before an ES import Node searches
 * the nine megabytes of TypeScript for the names of exports, and the entry of openapi-typescript loads a linter.
 */
const require = createRequire(import.meta.url)

export const compiler: typeof ts = require('typescript')
export const transformSchema: typeof openapi.transformSchema = require('openapi-typescript/dist/transform/index.cjs')
export const transformSchemaObject: (schema: unknown, options: object) => ts.TypeNode =
  require('openapi-typescript/dist/transform/schema-object.cjs').default
export const { astToString }: Pick<typeof openapi, 'astToString'> = require('openapi-typescript/dist/lib/ts.cjs')
export const { resolveRef }: Pick<typeof openapi, 'resolveRef'> = require('openapi-typescript/dist/lib/utils.cjs')

/** Source files by name, each with the time of its last change; the file is undefined if it does not exist. */
export type ParsedFiles = Map<string, { file: ts.SourceFile | undefined; modified: number | undefined }>

/**
 * Lets a compiler host parse a file again only after a change: parsing and binding the libraries takes a second. Skips
 * comments, which most of the text of generated types is.
 */
export function reuseParsedFiles(host: ts.CompilerHost, parsed: ParsedFiles): void {
  host.jsDocParsingMode = compiler.JSDocParsingMode.ParseNone
  const parse = host.getSourceFile
  host.getSourceFile = (name, ...rest) => {
    const modified = compiler.sys.getModifiedTime?.(name)?.getTime()
    const known = parsed.get(name)
    if (known !== undefined && known.modified === modified) return known.file
    const file = parse(name, ...rest)
    parsed.set(name, { file, modified })
    return file
  }
}
