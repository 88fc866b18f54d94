import { createRequire } from 'node:module'
import { constants, setPriority } from 'node:os'
import type ts from 'typescript'

/*
 * A process that keeps the TypeScript of a project, whose module is the first argument. It checks the configuration
 * whose path each message names, and replies with what `tsc --pretty` would print. It parses a file again only when the
 * text of the file has changed: the declarations of Node.js and of packages take seconds.
 *
 * Types are checked anew each time. A builder of the compiler API would recheck only what imports a changed module, and
 * so miss the modules that use types which that module augments.
 */

const compiler: typeof ts = createRequire(import.meta.url)(process.argv[2] as string)

/** The parsed files of the last check, by name, and the options that they were parsed with. */
let parsed = new Map<string, ts.SourceFile>()
let parsedWith = ''
/** The parsed files of the last check, in the order of the compiler, if it found nothing. */
let correct: readonly ts.SourceFile[] | undefined

const format: ts.FormatDiagnosticsHost = {
  getCurrentDirectory: () => compiler.sys.getCurrentDirectory(),
  getNewLine: () => compiler.sys.newLine,
  getCanonicalFileName: (name) => (compiler.sys.useCaseSensitiveFileNames ? name : name.toLowerCase()),
}

// The new service, which starts meanwhile, comes first.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
process.on('disconnect', () => process.exit())
process.on('message', (configuration: string) => {
  process.send?.(outputOf(configuration), () => {})
})

/** The maximum length of a reply in characters. */
const maxLength = 2 ** 24

function outputOf(configuration: string): string {
  const problems = [...compiler.sortAndDeduplicateDiagnostics(diagnosticsOf(configuration))]
  return compiler.formatDiagnosticsWithColorAndContext(problems, format).slice(0, maxLength)
}

/**
 * Returns the diagnostics that `tsc` prints, in its order: types are checked only if the syntax is right, and only if a
 * file or an option differs from the last check without a problem: many edits of a document change no type.
 */
function diagnosticsOf(path: string): ts.Diagnostic[] {
  const unreadable: ts.Diagnostic[] = []
  const configuration = compiler.getParsedCommandLineOfConfigFile(path, undefined, {
    ...compiler.sys,
    onUnRecoverableConfigFileDiagnostic: (problem) => unreadable.push(problem),
  })
  if (configuration === undefined) return unreadable
  const program = programOf(configuration)
  const files = program.getSourceFiles()
  const isSame = files.length === correct?.length && files.every((file, index) => file === correct?.[index])
  if (isSame && configuration.errors.length === 0) return []
  const found = diagnosticsIn(program, configuration)
  correct = found.length === 0 ? files : undefined
  return found
}

function diagnosticsIn(program: ts.Program, configuration: ts.ParsedCommandLine): ts.Diagnostic[] {
  const syntax = program.getSyntacticDiagnostics()
  if (syntax.length > 0) return [...configuration.errors, ...syntax]
  const options = [...configuration.errors, ...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()]
  return options.length > configuration.errors.length ? options : [...options, ...program.getSemanticDiagnostics()]
}

function programOf({ options, fileNames }: ts.ParsedCommandLine): ts.Program {
  const host = compiler.createCompilerHost(options)
  host.jsDocParsingMode = compiler.JSDocParsingMode?.ParseForTypeErrors
  const { configFilePath: _, ...relevant } = options
  // Other options make other objects of the same files.
  const known = JSON.stringify(relevant) === parsedWith ? parsed : new Map<string, ts.SourceFile>()
  parsedWith = JSON.stringify(relevant)
  parsed = new Map()
  host.getSourceFile = parsedFile
  return compiler.createProgram(fileNames, options, host)

  function parsedFile(name: string, how: ts.ScriptTarget | ts.CreateSourceFileOptions): ts.SourceFile | undefined {
    const text = host.readFile(name)
    if (text === undefined) return undefined
    const earlier = known.get(name)
    // package.json determines whether a file is an ES module.
    const isSame = earlier?.text === text && earlier.impliedNodeFormat === Object(how).impliedNodeFormat
    const file = isSame ? earlier : compiler.createSourceFile(name, text, how)
    parsed.set(name, file)
    return file
  }
}
