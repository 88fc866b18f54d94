import ts from 'typescript'

const format = { getCanonicalFileName: String, getCurrentDirectory: process.cwd, getNewLine: () => '\n' }

/**
 * Returns a function that type-checks a module and every file that it imports, including generated types. Each call
 * reads the current files and rechecks only what has changed. It throws an error with the compiler's diagnostics.
 */
export function typeChecker(module: string): () => void {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile)
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, '.')
  const host = ts.createIncrementalCompilerHost(options)
  const parse = host.getSourceFile
  const parsed = new Map<string, { changed: number | undefined; file: ts.SourceFile | undefined }>()
  host.getSourceFile = (path, ...rest) => {
    const changed = ts.sys.getModifiedTime?.(path)?.getTime()
    const known = parsed.get(path)
    if (known !== undefined && known.changed === changed) return known.file
    const file = parse(path, ...rest)
    parsed.set(path, { changed, file })
    return file
  }
  let program: ts.SemanticDiagnosticsBuilderProgram | undefined
  return () => {
    program = ts.createSemanticDiagnosticsBuilderProgram([module], options, host, program)
    const findings = [
      ...program.getConfigFileParsingDiagnostics(),
      ...program.getSyntacticDiagnostics(),
      ...program.getGlobalDiagnostics(),
      ...program.getSemanticDiagnostics(),
    ]
    if (findings.length === 0) return
    throw new Error(ts.formatDiagnosticsWithColorAndContext(findings, format).trimEnd())
  }
}
