import type ts from 'typescript'
import { compiler } from './typescript.ts'

/** Source files by name, each with the time of its last change; the file is undefined if it does not exist. */
export type ParsedFiles = Map<string, { file: ts.SourceFile | undefined; modified: number | undefined }>

/**
 * Lets a compiler host parse a file again only after a change: parsing and binding the libraries takes a second. Skips
 * comments, which most of the text of generated types is.
 */
export function reuseParsedFiles(host: ts.CompilerHost, parsed: ParsedFiles): void {
  host.jsDocParsingMode = compiler.JSDocParsingMode.ParseNone
  const parse = host.getSourceFile
  host.getSourceFile = reusedFile

  function reusedFile(name: string, ...rest: Rest<typeof parse>): ts.SourceFile | undefined {
    const modified = compiler.sys.getModifiedTime?.(name)?.getTime()
    const known = parsed.get(name)
    if (known !== undefined && known.modified === modified) return known.file
    const file = parse(name, ...rest)
    parsed.set(name, { file, modified })
    return file
  }
}

/** The parameters of a function after its first one. */
export type Rest<Given extends (...parameters: never[]) => unknown> =
  Parameters<Given> extends [unknown, ...infer Others] ? Others : never

/** By compiler options: programs with the same options share their files. */
const filesByOptions = new Map<string, ParsedFiles>()

/** Returns the files that earlier programs with the same options have parsed. */
export function parsedFiles(options: ts.CompilerOptions): ParsedFiles {
  const key = JSON.stringify(options)
  const known = filesByOptions.get(key) ?? new Map()
  filesByOptions.set(key, known)
  return known
}
