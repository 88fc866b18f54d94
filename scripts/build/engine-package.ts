import { chmod, copyFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'

const engine = join('packages', 'fastify-contract')

/**
 * Packages that the engine's commands need. They are peer dependencies, so that npm and npx install them, and so that
 * `npm ci --omit=peer` leaves them out of production.
 */
const forCommands = ['@redocly/cli', 'esbuild', 'openapi-typescript', 'recheck', 'tsx', 'typescript', 'yaml']

/**
 * Writes the engine into a directory as the package to publish: its modules as JavaScript with declarations, its README,
 * pages, examples and license, and a manifest whose exports name the JavaScript instead of the sources.
 */
export async function writeEnginePackage(directory = join('dist', basename(engine))): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  // The files that are not modules, such as templates of pages, keep their places beside the modules.
  await cp(join(engine, 'src'), join(directory, 'dist'), {
    recursive: true,
    filter: (path) => !/\.(ts|js)$/.test(path),
  })
  await emitModules(join(directory, 'dist'))
  for (const folder of ['docs', 'examples'])
    await cp(join(engine, folder), join(directory, folder), { recursive: true })
  const { private: _, exports: sources, ...manifest } = await manifestOf(engine)
  const { devDependencies, license } = await manifestOf('.')
  const built = {
    ...manifest,
    license,
    bin: './dist/cli.js',
    exports: Object.fromEntries(Object.entries<string>(sources).map(([name, path]) => [name, builtExport(path)])),
    files: ['dist', 'docs', 'examples'],
    peerDependencies: Object.fromEntries(forCommands.map((name) => [name, devDependencies[name]])),
  }
  await Promise.all([
    writeFile(join(directory, 'package.json'), `${JSON.stringify(built, null, 2)}\n`),
    copyFile(join(engine, 'README.md'), join(directory, 'README.md')),
    copyFile('LICENSE', join(directory, 'LICENSE')),
    chmod(join(directory, 'dist', 'cli.js'), 0o755),
  ])
}

const manifestOf = async (folder: string) => JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))

function builtExport(path: string) {
  const module = path.replace('./src/', './dist/').replace(/\.ts$/, '')
  return { types: `${module}.d.ts`, default: `${module}.js` }
}

/** Compiles every module of the engine. Ignores type errors, which npm run typecheck reports. */
async function emitModules(target: string): Promise<void> {
  const root = resolve(engine, 'src')
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile)
  const { options } = ts.convertCompilerOptionsFromJson(
    { ...config.compilerOptions, noEmit: false, declaration: true, allowJs: true, rootDir: root },
    resolve(),
  )
  const files = ts.sys.readDirectory(root, ['.ts', '.js'])
  const written: Promise<void>[] = []
  ts.createProgram(files, { ...options, outDir: target }).emit(undefined, (path, text) => {
    written.push(write(join(target, relative(resolve(target), resolve(path))), text))
  })
  await Promise.all(written)
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}
