import { join } from 'node:path'
import type ts from 'typescript'
import { compiler } from './typescript.ts'

/** Returns the compiler options of tsconfig.json and of those that it extends; none if it does not exist. */
export function projectOptions(directory = '.'): ts.CompilerOptions {
  const { config = {} } = compiler.readConfigFile(join(directory, 'tsconfig.json'), compiler.sys.readFile)
  // The files of the project are not needed, and it would take time to find them.
  const host = { ...compiler.sys, readDirectory: () => [] }
  return compiler.parseJsonConfigFileContent(config, host, directory).options
}
