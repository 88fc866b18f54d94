import { relative } from 'node:path'
import { virtualProgram } from 'fastify-contract-cli/testing'
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
  const program = virtualProgram(modules, texts, {}, { ...compilerOptions, ...options })
  const diagnostics = modules.flatMap((module) => ts.getPreEmitDiagnostics(program, program.getSourceFile(module)))
  return diagnostics.map(({ code, file, start = 0, messageText }) => {
    const line =
      file === undefined ? '' : `${relative('.', file.fileName)}:${file.getLineAndCharacterOfPosition(start).line + 1} `
    return `${line}TS${code} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}
