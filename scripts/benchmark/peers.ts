import { execFile } from 'node:child_process'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'

export const directory = join('scripts', 'benchmark', 'peers')

/** Installs the packages of the peers, unless they already match the lock file, and compiles the NestJS peer. */
export async function preparePeers(): Promise<void> {
  if (!(await isInstalled())) {
    console.error(`installing ${directory}`)
    await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: directory })
  }
  await compile(join(directory, 'nest', 'nest.ts'), join(directory, 'dist', 'nest.js'))
}

async function isInstalled(): Promise<boolean> {
  const [lock, installed] = await Promise.all(
    ['package-lock.json', join('node_modules', '.package-lock.json')].map((name) =>
      stat(join(directory, name)).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  )
  return installed !== undefined && lock !== undefined && installed >= lock
}

/** Compiles with TypeScript, because esbuild drops the parameter types that NestJS needs for validation. */
async function compile(source: string, target: string): Promise<void> {
  const compilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2022,
    useDefineForClassFields: false,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
  }
  const { outputText } = ts.transpileModule(await readFile(source, 'utf8'), { compilerOptions })
  await mkdir(dirname(target), { recursive: true })
  await writeFile(target, outputText)
}
