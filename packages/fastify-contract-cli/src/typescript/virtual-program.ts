import { dirname, join, resolve } from 'node:path'
import type ts from 'typescript'
import { parsedFiles, type Rest, reuseParsedFiles } from './parsed-files.ts'
import { compiler } from './typescript.ts'

/** From where a module for `moduleFindings` imports the types of the engine. */
export const engineTypes = 'fastify-contract/handlers'

/** The generated types that such a module imports, by file name. */
export type TypeFiles = Record<string, string>

/** What the compiler finds at a position of a module. */
type Finding = { start: number; message: string }

/**
 * Returns what the compiler finds in a module that imports `engineTypes`, and generated types from its own directory.
 *
 * @param options Options of the compiler as in tsconfig.json; default: those of the current directory.
 */
export function moduleFindings(text: string, types: TypeFiles, options?: object): Finding[] {
  // These files are in the directory of this module, from which the compiler finds the engine that is installed with it.
  const module = join(import.meta.dirname, 'new-module.ts')
  const texts: Record<string, string> = { [module]: text }
  for (const [name, declared] of Object.entries(types)) texts[join(import.meta.dirname, name)] = declared
  const program = virtualProgram([module], texts, checkOptions, options)
  const file = program.getSourceFile(module)
  return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(findingOf)
}

/**
 * Options that a project may have otherwise. The module resolution of Node 10 would not find the export of the engine, and
 * this compiler does not know each target and library of TypeScript 7.
 */
const checkOptions = {
  types: [],
  noUnusedLocals: false,
  moduleResolution: compiler.ModuleResolutionKind.Bundler,
  module: compiler.ModuleKind.ESNext,
  target: compiler.ScriptTarget.ESNext,
  lib: ['lib.esnext.d.ts'],
}

const findingOf = ({ start = 0, messageText }: ts.Diagnostic): Finding => ({
  start,
  message: typeof messageText === 'string' ? messageText : messageText.messageText,
})

/**
 * Returns a TypeScript program of some modules with the given compiler options, by default those of tsconfig.json. `strict`
 * is on by default, as it is since TypeScript 6. `texts` are virtual files by path, which take precedence over files on
 * disk.
 */
export function virtualProgram(
  modules: string[],
  texts: Record<string, string>,
  more: ts.CompilerOptions = {},
  compilerOptions?: object,
): ts.Program {
  const virtual = new Map(Object.entries(texts).map(([path, text]) => [resolve(path), text]))
  const directories = new Set(Array.from(virtual.keys(), (path) => dirname(path)))
  const own = compilerOptions && compiler.convertCompilerOptionsFromJson(compilerOptions, '.').options
  const options = { strict: true, ...(own ?? projectOptions()), ...more }
  const host = compiler.createCompilerHost(options)
  const parsed = parsedFiles(options)
  reuseParsedFiles(host, parsed)
  const { getSourceFile, fileExists, readFile, directoryExists } = host
  host.getSourceFile = virtualSourceFile
  host.fileExists = (name) => virtual.has(resolve(name)) || fileExists(name)
  host.readFile = (name) => virtual.get(resolve(name)) ?? readFile(name)
  host.directoryExists = (name) => directories.has(resolve(name)) || (directoryExists?.(name) ?? true)
  return compiler.createProgram(modules, options, host)

  function virtualSourceFile(name: string, ...rest: Rest<ts.CompilerHost['getSourceFile']>): ts.SourceFile | undefined {
    const text = virtual.get(resolve(name))
    if (text === undefined) return getSourceFile(name, ...rest)
    const known = parsed.get(name)?.file
    const file = known?.text === text ? known : compiler.createSourceFile(name, text, rest[0])
    parsed.set(name, { file, modified: undefined })
    return file
  }
}

/** Returns the compiler options of tsconfig.json and of those that it extends; none if it does not exist. */
export function projectOptions(directory = '.'): ts.CompilerOptions {
  const { config = {} } = compiler.readConfigFile(join(directory, 'tsconfig.json'), compiler.sys.readFile)
  // The files of the project are not needed, and it would take time to find them.
  const host = { ...compiler.sys, readDirectory: () => [] }
  return compiler.parseJsonConfigFileContent(config, host, directory).options
}
