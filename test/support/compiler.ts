import { readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import ts from 'typescript'

/**
 * Takes the paths of modules and the texts of files that are not on the disk, by path; gives what the compiler says of
 * them, one line for each diagnostic.
 */
export function diagnose(modules: string[], texts: Record<string, string>): string[] {
  const virtual = new Map(Object.entries(texts).map(([path, text]) => [resolve(path), text]))
  const { config } = ts.parseConfigFileTextToJson('tsconfig.json', readFileSync('tsconfig.json', 'utf8'))
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, '.')
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.getSourceFile = (name, target, onError) => {
    const text = virtual.get(resolve(name))
    return text === undefined ? getSourceFile(name, target, onError) : ts.createSourceFile(name, text, target)
  }
  host.fileExists = (name) => virtual.has(resolve(name)) || fileExists(name)
  host.readFile = (name) => virtual.get(resolve(name)) ?? readFile(name)
  return ts
    .getPreEmitDiagnostics(ts.createProgram(modules, options, host))
    .map(({ code, file, start = 0, messageText }) => {
      const line =
        file === undefined
          ? ''
          : `${relative('.', file.fileName)}:${file.getLineAndCharacterOfPosition(start).line + 1} `
      return `${line}TS${code} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
    })
}
