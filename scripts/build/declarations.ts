import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'

const exported = ['src/client.ts', 'src/store/open.ts', 'src/store/conformance.ts']

/**
 * Writes the declarations of modules, and of the modules that these import, into a directory. By default they are the
 * modules that the package exports.
 */
export async function writeDeclarations(directory = join('dist', 'types'), entryPoints = exported): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  const emitted = emit(entryPoints)
  const reached = new Set(entryPoints.map(declarationOf))
  // Iteration over a Set includes the elements that are added meanwhile.
  for (const path of reached) {
    // The compiler emits nothing for a file that is a declaration already.
    const text = emitted.get(path) ?? (await readFile(path, 'utf8'))
    for (const { fileName } of ts.preProcessFile(text).importedFiles) {
      if (fileName.startsWith('.')) reached.add(declarationOf(join(dirname(path), fileName)))
    }
    const target = join(directory, path)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, text)
  }
}

const declarationOf = (path: string) => path.replace(/(\.d)?\.ts$/, '.d.ts')

/** Returns the text of each declaration file by its path. Ignores type errors, which npm run typecheck reports. */
function emit(entryPoints: string[]): Map<string, string> {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile)
  const declarations = { noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: '.' }
  const { options } = ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, ...declarations }, resolve())
  const emitted = new Map<string, string>()
  ts.createProgram(entryPoints, options).emit(undefined, (path, text) => emitted.set(relative('', path), text))
  return emitted
}
