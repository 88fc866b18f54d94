import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'
import { bundleModules } from './bundle.ts'
import { repositoryUrl } from './repository-url.ts'

/** The packages that are published, in their order: each depends on those before it. */
export const packages = ['fastify-contract', 'fastify-contract-cli', 'create-fastify-contract']

/**
 * The packages that the package of another one contains. The commands contain the engine, so that they run from a file
 * or a URL, and generate code of the version that they were tested with.
 */
const bundles: Record<string, string[]> = { 'fastify-contract-cli': ['fastify-contract'] }

/**
 * The packages whose modules are bundled, with those of their bundled packages, and the modules that run in processes and
 * threads of their own. Node.js loads a few files in half the time of several hundred. The others keep a file for each
 * module, so that the stack traces of a service name them.
 */
const ownThreads: Record<string, string[]> = {
  'fastify-contract-cli': [
    './src/dev/build-process.ts',
    './src/dev/write-pages.ts',
    './src/typescript/resident-compiler.ts',
  ],
}

/** Writes the packages as they are published: each into a directory of its name. */
export async function writePackages(directory = 'dist'): Promise<void> {
  const repository = await repositoryUrl()
  for (const name of packages) await writePackage(name, directory, repository)
}

/**
 * Writes a package as it is published: its modules as JavaScript with declarations, its other files, and its manifest,
 * whose exports and command are the JavaScript instead of the sources. Its imports, which are modules of packages for
 * development, are copies, and so are the packages that it bundles. Within this repository the packages are used by their
 * sources, so that no change needs a build.
 */
async function writePackage(name: string, parent: string, repository: string | undefined): Promise<void> {
  const folder = join('packages', name)
  const directory = join(parent, name)
  const source = await manifestOf(folder)
  // One script refuses to pack the sources; the other one, with its configuration and packages, tests them.
  const { scripts: _, tap: __, devDependencies: ___, ...manifest } = source
  await rm(directory, { recursive: true, force: true })
  // The files that are not modules, such as templates of pages, keep their places beside the modules.
  await cp(join(folder, 'src'), join(directory, 'dist'), {
    recursive: true,
    filter: (path) => !/\.(ts|js)$/.test(path),
  })
  const threads = ownThreads[name]
  await emitModules(join(folder, 'src'), join(directory, 'dist'), threads !== undefined)
  for (const path of ['README.md', 'LICENSE', ...manifest.files.filter((name: string) => name !== 'dist')])
    await cp(join(folder, path), join(directory, path), { recursive: true })
  manifest.bundleDependencies = bundles[name]
  for (const bundled of bundles[name] ?? []) {
    await cp(join(parent, bundled), join(directory, 'node_modules', bundled), { recursive: true })
    // pnpm installs nothing for a bundled package.
    manifest.dependencies = { ...(await manifestOf(join(parent, bundled))).dependencies, ...manifest.dependencies }
  }
  if (threads !== undefined) {
    const entryPoints = [...Object.values<string>({ ...source.exports, ...source.bin }), ...threads]
    const external = Object.keys(manifest.dependencies).filter((dependency) => !bundles[name]?.includes(dependency))
    await bundleModules(folder, join(directory, 'dist'), { entryPoints, external })
  }
  for (const [entry, path] of Object.entries<string>(manifest.exports ?? {}))
    manifest.exports[entry] = { types: built(path, '.d.ts'), default: built(path, '.js') }
  for (const [command, path] of Object.entries<string>(manifest.bin ?? {})) {
    manifest.bin[command] = built(path, '.js')
    await chmod(join(directory, manifest.bin[command]), 0o755)
  }
  for (const [name, module] of Object.entries<string>(manifest.imports ?? {}))
    manifest.imports[name] = await copyModule(module, directory)
  if (repository !== undefined)
    manifest.repository = { type: 'git', url: `git+${repository}.git`, directory: `packages/${name}` }
  await writeFile(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

const manifestOf = async (folder: string) => JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))

const built = (path: string, extension: string) => path.replace('./src/', './dist/').replace(/\.ts$/, extension)

/**
 * Copies a CommonJS module without imports, with the version and the license of its package, and returns the path of the
 * copy.
 */
async function copyModule(module: string, directory: string): Promise<string> {
  const { resolve } = createRequire(import.meta.url)
  const [name = ''] = module.split('/')
  const manifest = resolve(`${name}/package.json`)
  const { version } = JSON.parse(await readFile(manifest, 'utf8'))
  const code = await readFile(resolve(module), 'utf8')
  await write(
    join(directory, 'dist', `${name}.cjs`),
    `// ${module} of version ${version}; see ${name}.LICENSE\n${code}`,
  )
  await cp(join(dirname(manifest), 'LICENSE'), join(directory, 'dist', `${name}.LICENSE`))
  return `./dist/${name}.cjs`
}

/**
 * Compiles every module of a folder, or emits only its declarations. npm run typecheck reports type errors, so this checks
 * none, in a third of the time.
 */
async function emitModules(folder: string, target: string, emitDeclarationOnly: boolean): Promise<void> {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile)
  const { options } = ts.convertCompilerOptionsFromJson(
    {
      ...config.compilerOptions,
      noEmit: false,
      noCheck: true,
      declaration: true,
      emitDeclarationOnly,
      allowJs: true,
      rootDir: resolve(folder),
    },
    resolve(),
  )
  const files = ts.sys.readDirectory(folder, ['.ts', '.js'])
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
