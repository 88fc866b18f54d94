import { relative } from 'node:path'
import ts from 'typescript'
import { virtualProgram } from '../../packages/fastify-contract-cli/src/typescript/virtual-program.ts'

/**
 * Compiles modules and returns one line for each diagnostic of them, not of what they import; `texts` holds, by path,
 * files that are not on disk.
 */
export function diagnose(modules: string[], texts: Record<string, string>): string[] {
  const program = virtualProgram(modules, texts)
  const diagnostics = modules.flatMap((module) => ts.getPreEmitDiagnostics(program, program.getSourceFile(module)))
  return diagnostics.map(({ code, file, start = 0, messageText }) => {
    const line =
      file === undefined ? '' : `${relative('.', file.fileName)}:${file.getLineAndCharacterOfPosition(start).line + 1} `
    return `${line}TS${code} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}
