import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { extname, join, resolve } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { messagesOf } from './compiler-messages.ts'
import { projectCompiler } from './project-compiler.ts'
import { compiler } from './typescript.ts'

/**
 * Type-checks a module and every file that it imports, including generated types, with the TypeScript and the
 * tsconfig.json of the current directory. Rejects with the compiler's messages, in the same words whichever version of
 * TypeScript it is. Keeps a process for the next check, except for TypeScript 7, which has no compiler API.
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
  const { api, manifest } = projectCompiler('.')
  const messages =
    api === undefined ? await compilerMessages('--project', path) : await residentMessages(path, api, manifest)
  if (messages !== undefined) throw new Error(process.stderr.isTTY ? messages : stripVTControlCharacters(messages))
}

/**
 * Runs the tsc of the current directory, and returns its messages, with the colors of a terminal, in the same words
 * whichever version of TypeScript it is; undefined if it has none.
 */
export async function compilerMessages(...args: string[]): Promise<string | undefined> {
  const { tsc } = projectCompiler('.')
  const { failed, output } = await execute(process.execPath, [tsc, ...args, '--pretty'], { maxBuffer }).then(
    () => ({ failed: false, output: '' }),
    ({ stdout, stderr }) => ({ failed: true, output: `${stdout}${stderr}` }),
  )
  return failed ? messagesOf(output) : undefined
}

const execute = promisify(execFile)

/** A process that keeps a compiler. */
type Resident = {
  /** The version and the directory of the compiler. */
  key: string
  child: ChildProcess
  /** Resolves with a message when the process has ended, such as for lack of memory. */
  ended: Promise<string[]>
}

let resident: Resident | undefined

/** Returns the messages of a compiler that keeps what it has parsed; undefined if there are none. */
async function residentMessages(path: string, api: string, manifest: string): Promise<string | undefined> {
  const key = JSON.stringify([process.cwd(), api, manifest])
  if (resident?.key !== key || !resident.child.connected) {
    resident?.child.kill()
    resident = startResident(key, api)
  }
  const { child, ended } = resident
  // The process may end between checks, but not before a reply.
  child.ref()
  child.channel?.ref()
  child.send(path)
  const [output] = await Promise.race([once(child, 'message'), ended])
  child.unref()
  child.channel?.unref()
  return output === '' ? undefined : messagesOf(output)
}

function startResident(key: string, api: string): Resident {
  const extension = extname(import.meta.filename)
  // Only sources need a loader. That of the build process would read the configuration, which may have an error.
  const options = extension === '.js' ? { execArgv: [] } : {}
  const child = fork(new URL(`../typescript/resident-compiler${extension}`, import.meta.url), [api], options)
  const ended = once(child, 'exit').then(([code, signal]) => [
    `the compiler has ended with ${signal ?? `exit code ${code}`}`,
  ])
  return { key, child, ended }
}

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
