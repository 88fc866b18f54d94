import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildContext, type Built, NotAvailable } from '../driver.ts'
import { generateClient } from '../openapi-generator.ts'
import { buildReduced } from './reduced.ts'

/** Builds the client of openapi-generator with one of its libraries, and a class of java/ that calls it. */
export async function buildOpenApiGeneratorJava(context: BuildContext, library: string, name: string): Promise<Built> {
  const missing = await buildReduced(context, [], async (documents) => {
    for (const directory of ['api', 'classes', 'lib'])
      await rm(join(context.directory, directory), { recursive: true, force: true })
    const api = join(context.directory, 'api')
    await generateClient({ ...context, ...documents }, 'java', api, ['--library', library])
    await copyLibraries(context, join(api, 'pom.xml'))
    if (library === 'native') await copyGson(context)
    await compile(context, join(api, 'src/main/java'))
  })
  return { ...(await compileDriver(context, name, ['Generated'])), missing }
}

/** Copies the libraries of a pom.xml of the directory of a client into `lib`. */
async function copyLibraries(context: BuildContext, pom: string): Promise<void> {
  for (const program of ['mvn', 'javac'])
    await context.run(program, ['-version']).catch(() => {
      throw new NotAvailable('Maven and the JDK 17 or later')
    })
  const options = ['-DincludeScope=compile', `-DoutputDirectory=${join(context.directory, 'lib')}`]
  await context.run('mvn', ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', ...options])
}

/** Copies the library that reads the cases, for a client that has none or another one. */
export async function copyGson(context: BuildContext): Promise<void> {
  const directory = join(context.directory, 'gson')
  await mkdir(directory, { recursive: true })
  const gson = `<groupId>com.google.code.gson</groupId><artifactId>gson</artifactId><version>${context.versions.gson}</version>`
  const project =
    '<modelVersion>4.0.0</modelVersion><groupId>local</groupId><artifactId>client</artifactId><version>1</version>'
  const pom = join(directory, 'pom.xml')
  await writeFile(pom, `<project>${project}<dependencies><dependency>${gson}</dependency></dependencies></project>\n`)
  await copyLibraries(context, pom)
}

/** Compiles the files of a directory into `classes`. The names of parameters are kept, for reflection. */
async function compile(context: BuildContext, directory: string): Promise<void> {
  const files = await readdir(directory, { recursive: true })
  const sources = files.filter((file) => file.endsWith('.java')).map((file) => join(directory, file))
  const options = ['-nowarn', '-parameters', '-encoding', 'UTF-8', '-d', 'classes', '-cp', 'classes:lib/*']
  await context.run('javac', [...options, ...sources])
}

/** Compiles the driver with a class of java/, and those that it uses. Returns the client. */
export async function compileDriver(context: BuildContext, name: string, others: string[] = []): Promise<Built> {
  const files = ['Main', ...others, name].map((each) => `${each}.java`)
  for (const file of files)
    await copyFile(fileURLToPath(new URL(`java/${file}`, import.meta.url)), join(context.directory, file))
  const options = ['-encoding', 'UTF-8', '-d', 'classes', '-cp', 'classes:lib/*']
  await context.run('javac', [...options, ...files])
  const run = ['-Dstdout.encoding=UTF-8', '-Dfile.encoding=UTF-8', '-cp', 'classes:lib/*']
  return { command: ['java', ...run, 'Main', name, context.documentJson] }
}
