import { copyFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildContext, type Built, NotAvailable } from '../driver.ts'

/** Copies the libraries of a pom.xml of the directory of a client into `lib`. */
export async function copyLibraries(context: BuildContext, pom: string): Promise<void> {
  for (const program of ['mvn', 'javac'])
    await context.run(program, ['-version']).catch(() => {
      throw new NotAvailable('Maven and the JDK 17 or later')
    })
  const options = ['-DincludeScope=compile', `-DoutputDirectory=${join(context.directory, 'lib')}`]
  await context.run('mvn', ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', ...options])
}

/** Compiles the files of a directory into `classes`. The names of parameters are kept, for reflection. */
export async function compile(context: BuildContext, directory: string): Promise<void> {
  const files = await readdir(directory, { recursive: true })
  const sources = files.filter((file) => file.endsWith('.java')).map((file) => join(directory, file))
  const options = ['-nowarn', '-parameters', '-encoding', 'UTF-8', '-d', 'classes', '-cp', 'classes:lib/*']
  await context.run('javac', [...options, ...sources])
}

/** Compiles the driver with a class of java/. Returns the client. */
export async function compileDriver(context: BuildContext, name: string): Promise<Built> {
  const files = ['Main.java', `${name}.java`]
  for (const file of files)
    await copyFile(fileURLToPath(new URL(`java/${file}`, import.meta.url)), join(context.directory, file))
  const options = ['-encoding', 'UTF-8', '-d', 'classes', '-cp', 'classes:lib/*']
  await context.run('javac', [...options, ...files])
  const run = ['-Dstdout.encoding=UTF-8', '-Dfile.encoding=UTF-8', '-cp', 'classes:lib/*']
  return { command: ['java', ...run, 'Main', name, context.documentJson] }
}
