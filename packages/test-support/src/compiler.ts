import { dirname, relative, resolve } from 'node:path'
import ts from 'typescript'

/** Those of this repository, so that a package alone has them, too. */
const compilerOptions = {
  target: 'ES2023',
  module: 'NodeNext',
  lib: ['ES2023', 'ES2024.String'],
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noImplicitOverride: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  erasableSyntaxOnly: true,
  resolveJsonModule: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  noEmit: true,
}

/**
 * Compiles modules and returns one line for each diagnostic of them, not of what they import; `texts` holds, by path,
 * files that are not on disk, and `options` has compiler options that differ from those of this repository.
 */
export function diagnose(modules: string[], texts: Record<string, string>, options: object = {}): string[] {
  const program = virtualProgram(modules, texts, { ...compilerOptions, ...options })
  const diagnostics = modules.flatMap((module) => ts.getPreEmitDiagnostics(program, program.getSourceFile(module)))
  return diagnostics.map(({ code, file, start = 0, messageText }) => {
    const line =
      file === undefined ? '' : `${relative('.', file.fileName)}:${file.getLineAndCharacterOfPosition(start).line + 1} `
    return `${line}TS${code} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}

/** The files on disk that earlier programs have parsed, by compiler options: parsing the libraries takes a second. */
const filesByOptions = new Map<string, Map<string, ts.SourceFile | undefined>>()

/** Returns a program whose virtual files, by path, take precedence over files on disk. */
function virtualProgram(modules: string[], texts: Record<string, string>, given: object): ts.Program {
  const virtual = new Map(Object.entries(texts).map(([path, text]) => [resolve(path), text]))
  const directories = new Set(Array.from(virtual.keys(), (path) => dirname(path)))
  const { options } = ts.convertCompilerOptionsFromJson(given, '.')
  const host = ts.createCompilerHost(options)
  // Most of the text of generated types is comments.
  host.jsDocParsingMode = ts.JSDocParsingMode.ParseNone
  const key = JSON.stringify(options)
  const parsed = filesByOptions.get(key) ?? new Map<string, ts.SourceFile | undefined>()
  filesByOptions.set(key, parsed)
  const { getSourceFile, fileExists, readFile, directoryExists } = host
  host.getSourceFile = sourceFile
  host.fileExists = (name) => virtual.has(resolve(name)) || fileExists(name)
  host.readFile = (name) => virtual.get(resolve(name)) ?? readFile(name)
  host.directoryExists = (name) => directories.has(resolve(name)) || (directoryExists?.(name) ?? true)
  return ts.createProgram(modules, options, host)

  function sourceFile(name: string, language: ts.ScriptTarget | ts.CreateSourceFileOptions): ts.SourceFile | undefined {
    const text = virtual.get(resolve(name))
    if (text !== undefined) return ts.createSourceFile(name, text, language)
    if (!parsed.has(name)) parsed.set(name, getSourceFile(name, language))
    return parsed.get(name)
  }
}
