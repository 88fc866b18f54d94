import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'

/** The packages that are published, in their order: the second one depends on the first one. */
export const packages = ['fastify-contract', 'fastify-contract-cli']

/**
 * Writes a package into a directory as it is published: its modules as JavaScript with declarations, its other files, and
 * its manifest, whose exports and command are the JavaScript instead of the sources. Its imports, which are modules of
 * packages for development, are copies. Within this repository the packages are used by their sources, so that no change
 * needs a build.
 */
export async function writePackage(name: string, directory = join('dist', name)): Promise<void> {
  const folder = join('packages', name)
  const source = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  // One script refuses to pack the sources; the other one, with its configuration and packages, tests them.
  const { scripts: _, tap: __, devDependencies: ___, ...manifest } = source
  await rm(directory, { recursive: true, force: true })
  // The files that are not modules, such as templates of pages, keep their places beside the modules.
  await cp(join(folder, 'src'), join(directory, 'dist'), {
    recursive: true,
    filter: (path) => !/\.(ts|js)$/.test(path),
  })
  await emitModules(join(folder, 'src'), join(directory, 'dist'))
  for (const path of ['README.md', 'LICENSE', ...manifest.files.filter((name: string) => name !== 'dist')])
    await cp(join(folder, path), join(directory, path), { recursive: true })
  for (const [entry, path] of Object.entries<string>(manifest.exports))
    manifest.exports[entry] = { types: built(path, '.d.ts'), default: built(path, '.js') }
  for (const [command, path] of Object.entries<string>(manifest.bin ?? {})) {
    manifest.bin[command] = built(path, '.js')
    await chmod(join(directory, manifest.bin[command]), 0o755)
  }
  for (const [name, module] of Object.entries<string>(manifest.imports ?? {}))
    manifest.imports[name] = await copyModule(module, directory)
  await writeFile(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

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

/** Compiles every module of a folder. Ignores type errors, which npm run typecheck reports. */
async function emitModules(folder: string, target: string): Promise<void> {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile)
  const { options } = ts.convertCompilerOptionsFromJson(
    { ...config.compilerOptions, noEmit: false, declaration: true, allowJs: true, rootDir: resolve(folder) },
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
