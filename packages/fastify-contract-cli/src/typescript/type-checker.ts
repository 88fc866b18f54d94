import { stripVTControlCharacters } from 'node:util'
import type ts from 'typescript'
import { type ParsedFiles, reuseParsedFiles } from './parsed-files.ts'
import { compiler } from './typescript.ts'

/**
 * Returns a function that type-checks a module and every file that it imports, including generated types, by the
 * tsconfig.json of the current directory. Each call reads the current files and rechecks only what has changed. It
 * throws an error with the compiler's diagnostics.
 */
export function typeChecker(module: string): () => void {
  const { config } = compiler.readConfigFile('tsconfig.json', compiler.sys.readFile)
  const { options } = compiler.convertCompilerOptionsFromJson(config.compilerOptions, '.')
  const parsed: ParsedFiles = new Map()
  const format = { getCanonicalFileName: String, getCurrentDirectory: process.cwd, getNewLine: () => '\n' }
  let program: ts.SemanticDiagnosticsBuilderProgram | undefined
  let augmenting: ts.SourceFile[] = []
  return check

  function check(): void {
    const before = augmenting
    const host = hostOf(options, parsed)
    program = compiler.createSemanticDiagnosticsBuilderProgram([module], options, host, program)
    augmenting = program.getSourceFiles().filter(augmentsModules)
    const isSame = augmenting.length === before.length && augmenting.every((file, index) => file === before[index])
    // The builder does not recheck the modules that use augmented types, so everything is checked if these may differ.
    // Those of the project itself may depend on any of its files.
    if (!isSame || augmenting.some(({ fileName }) => !fileName.includes('/node_modules/')))
      program = compiler.createSemanticDiagnosticsBuilderProgram(program.getProgram(), host)
    const findings = [
      ...program.getConfigFileParsingDiagnostics(),
      ...program.getSyntacticDiagnostics(),
      ...program.getGlobalDiagnostics(),
      ...program.getSemanticDiagnostics(),
    ]
    if (findings.length === 0) return
    const text = compiler.formatDiagnosticsWithColorAndContext(findings.map(causeFirst), format).trimEnd()
    throw new Error(process.stderr.isTTY ? text : stripVTControlCharacters(text))
  }
}

/** Returns access to the current files. */
function hostOf(options: ts.CompilerOptions, parsed: ParsedFiles): ts.CompilerHost {
  // It remembers which files exist, so each check needs a new one.
  const host = compiler.createIncrementalCompilerHost(options)
  // A module that was missing may exist now, but the compiler would resolve only the imports of changed files again.
  host.hasInvalidatedResolutions = () => true
  reuseParsedFiles(host, parsed)
  return host
}

/** Returns whether a file extends the types of other modules, as `declare module 'fastify' { … }` does. */
const augmentsModules = ({ statements }: ts.SourceFile): boolean =>
  statements.some((statement) => compiler.isModuleDeclaration(statement) && compiler.isStringLiteral(statement.name))

/** The maximum length of a line of a message: some types have hundreds of characters. */
const maxLength = 160

/**
 * Returns a diagnostic whose message begins with its cause. The compiler puts the cause last, below a line for each type
 * around it; of these only the first, and those that name a property, remain.
 */
function causeFirst(diagnostic: ts.Diagnostic): ts.Diagnostic {
  const { messageText } = diagnostic
  if (typeof messageText === 'string') return diagnostic
  const chain: ts.DiagnosticMessageChain[] = []
  for (let link: ts.DiagnosticMessageChain | undefined = messageText; link !== undefined; link = link.next?.at(-1))
    chain.unshift(link)
  const [cause, ...around] = chain.map((link) => link.messageText)
  const kept = around.filter((line, index) => index === around.length - 1 || /^(The types|Types) of /.test(line))
  const shown = [cause as string, ...kept.map((line) => `  ${line}`)].map(shortened)
  return { ...diagnostic, messageText: shown.join('\n') }
}

const shortened = (line: string): string => (line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line)
