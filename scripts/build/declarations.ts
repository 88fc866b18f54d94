import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'

const engineFolder = join('packages', 'fastify-contract')

const exported = ['src/client.ts', 'src/store/open.ts', 'src/store/conformance.ts']

/**
 * Writes the declarations of modules, and of the modules that these import, into a directory. By default they are the
 * modules that the package exports.
 */
export async function writeDeclarations(directory = join('dist', 'types'), entryPoints = exported): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  const { name, exports } = JSON.parse(await readFile(join(engineFolder, 'package.json'), 'utf8'))
  /** The sources of the engine's exports, by the name that imports use. */
  const engine = Object.fromEntries(
    Object.entries<string>(exports).map(([entry, path]) => [join(name, entry), join(engineFolder, path)]),
  )
  const emitted = emit(entryPoints, engine)
  const reached = new Set(entryPoints.map(declarationOf))
  // Iteration over a Set includes the elements that are added meanwhile.
  for (const path of reached) {
    // The compiler emits nothing for a file that is a declaration already.
    const text = withRelativeImports(engine, path, emitted.get(path) ?? (await readFile(path, 'utf8')))
    for (const { fileName } of ts.preProcessFile(text).importedFiles)
      if (fileName.startsWith('.')) reached.add(declarationOf(join(dirname(path), fileName)))
    const target = join(directory, path)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, text)
  }
}

/** Replaces imports of the engine by relative paths: a user of the declarations does not install the engine. */
const withRelativeImports = (engine: Record<string, string>, path: string, text: string): string =>
  text.replace(/(?<=from ')[^']+(?=')/g, (name) => {
    const source = engine[name]
    return source === undefined ? name : relative(dirname(path), source)
  })

const declarationOf = (path: string) => path.replace(/(\.d)?\.ts$/, '.d.ts')

/** Returns the text of each declaration file by its path. Ignores type errors, which npm run typecheck reports. */
function emit(entryPoints: string[], engine: Record<string, string>): Map<string, string> {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile)
  const declarations = { noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: '.' }
  const { options } = ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, ...declarations }, resolve())
  // Without these paths the compiler takes the workspace for an installed package, and emits nothing for it.
  options.paths = Object.fromEntries(Object.entries(engine).map(([name, source]) => [name, [resolve(source)]]))
  const emitted = new Map<string, string>()
  ts.createProgram(entryPoints, options).emit(undefined, (path, text) => emitted.set(relative('', path), text))
  return emitted
}
