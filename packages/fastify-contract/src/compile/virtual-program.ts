import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import ts from 'typescript'

/**
 * Returns a TypeScript program of some modules with the options of tsconfig.json. `texts` are virtual files by path,
 * which take precedence over files on disk.
 */
export function virtualProgram(
  modules: string[],
  texts: Record<string, string>,
  more: ts.CompilerOptions = {},
): ts.Program {
  const virtual = new Map(Object.entries(texts).map(([path, text]) => [resolve(path), text]))
  const folders = new Set([...virtual.keys()].map((path) => dirname(path)))
  const { config } = ts.parseConfigFileTextToJson('tsconfig.json', readFileSync('tsconfig.json', 'utf8'))
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, '.')
  const host = ts.createCompilerHost({ ...options, ...more })
  const { getSourceFile, fileExists, readFile, directoryExists } = host
  host.getSourceFile = (name, target, onError) => {
    const text = virtual.get(resolve(name))
    return text === undefined ? getSourceFile(name, target, onError) : ts.createSourceFile(name, text, target)
  }
  host.fileExists = (name) => virtual.has(resolve(name)) || fileExists(name)
  host.readFile = (name) => virtual.get(resolve(name)) ?? readFile(name)
  host.directoryExists = (name) => folders.has(resolve(name)) || (directoryExists?.(name) ?? true)
  return ts.createProgram(modules, { ...options, ...more }, host)
}
