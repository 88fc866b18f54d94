import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { messagesOf } from './compiler-messages.ts'
import { tscOf } from './project-compiler.ts'
import { compiler } from './typescript.ts'

/**
 * Type-checks a module and every file that it imports, including generated types, with the tsc and the tsconfig.json of
 * the current directory. Rejects with the compiler's messages, in the same words whichever version of TypeScript it is.
 *
 * @param directory Where to write a temporary configuration. It is below the current directory, so that the compiler
 *   finds the same packages.
 */
export async function checkTypes(module: string, directory: string): Promise<void> {
  const own = resolve('tsconfig.json')
  const base = existsSync(own) ? { extends: own, compilerOptions: {} } : { compilerOptions: defaultOptions }
  const configuration = {
    ...base,
    compilerOptions: { ...base.compilerOptions, ...withoutOutput },
    files: [resolve(module), ...declarationFiles()],
    include: [],
    references: [],
  }
  await mkdir(directory, { recursive: true })
  const path = join(directory, 'tsconfig.json')
  await writeFile(path, JSON.stringify(configuration))
  // No incremental check: the compiler would not recheck the modules that use types which a changed module augments.
  const messages = await compilerMessages('--project', path)
  if (messages !== undefined) throw new Error(process.stderr.isTTY ? messages : stripVTControlCharacters(messages))
}

/**
 * Runs the tsc of the current directory, and returns its messages, with the colors of a terminal, in the same words
 * whichever version of TypeScript it is; undefined if it has none.
 */
export async function compilerMessages(...args: string[]): Promise<string | undefined> {
  const { failed, output } = await execute(process.execPath, [tscOf('.'), ...args, '--pretty'], { maxBuffer }).then(
    () => ({ failed: false, output: '' }),
    ({ stdout, stderr }) => ({ failed: true, output: `${stdout}${stderr}` }),
  )
  return failed ? messagesOf(output) : undefined
}

const execute = promisify(execFile)

/** Returns the declaration files that belong to the project: no module imports those with global declarations. */
function declarationFiles(): string[] {
  const { config = {} } = compiler.readConfigFile('tsconfig.json', compiler.sys.readFile)
  const { fileNames } = compiler.parseJsonConfigFileContent(config, compiler.sys, '.')
  return fileNames.filter((name) => /\.d\.[cm]?ts$/.test(name)).map((name) => resolve(name))
}

/** The maximum length of the messages in bytes. Beyond it the compiler is killed, and only these are shown. */
const maxBuffer = 2 ** 24

/** The options of a project without tsconfig.json. */
const defaultOptions = { strict: true, target: 'ES2023', module: 'NodeNext', allowImportingTsExtensions: true }

/** A composite project would have to list the files that the module imports; the others need one or an output. */
const withoutOutput = {
  noEmit: true,
  composite: false,
  incremental: false,
  isolatedDeclarations: false,
  emitDeclarationOnly: false,
}
