import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectOptions } from '../typescript/project-options.ts'
import { directoriesFrom, manifestIn } from './manifests.ts'

/** What `init --into` finds in the directory of a Fastify application. */
export type ExistingApplication = {
  /** The module that creates the Fastify instance; undefined if it has none of the usual names. */
  entry: string | undefined
  /** The name of the Fastify instance in that module. */
  instance: string
  /** The directory of the modules: `src`, or `.` without one. */
  sources: string
  language: 'typescript' | 'javascript'
  modules: 'esm' | 'commonjs'
  /** Whether imports name a TypeScript module as it is, instead of the JavaScript that the compiler writes. */
  importsTypeScript: boolean
  /** What tsconfig.json must change, because the generated types need it. */
  lacking: string[]
  /** Where the compiler writes JavaScript from which `generated` is not found; undefined if there is no such place. */
  output: string | undefined
  /** The version of Fastify that is installed, such as 5.12.8, or the range that package.json has. */
  fastify: string
  /** What runs the tests; undefined for a program that runs no JavaScript modules as they are. */
  testRunner: TestRunner | undefined
  /** The packages that package.json has already. */
  dependencies: Set<string>
}

/** The programs whose tests `init` writes. */
export type TestRunner = 'vitest' | 'tap' | 'node:test'

type Manifest = Partial<Record<'dependencies' | 'devDependencies', Record<string, string>>> & { type?: string }

/**
 * Returns what the directory of an application has. Reads package.json, tsconfig.json and at most 48 modules; runs
 * nothing of them.
 *
 * @throws {Error} If the directory has no package.json, or its application does not depend on Fastify.
 */
export function existingApplication(directory: string): ExistingApplication {
  const path = join(directory, 'package.json')
  if (!existsSync(path))
    throw new Error(`init: ${path} does not exist; name the directory of a Fastify application, or leave out --into`)
  const { dependencies, devDependencies, type } = manifestIn(directory) as Manifest
  const declared = { ...devDependencies, ...dependencies }
  if (declared.fastify === undefined)
    throw new Error(`init: ${path} has no dependency fastify; leave out --into to write a new service`)
  const entry = entryOf(directory)
  const hasOptions = existsSync(join(directory, 'tsconfig.json'))
  const isTypeScript = entry === undefined ? hasOptions : /ts$/.test(entry.path)
  const options = isTypeScript && hasOptions ? projectOptions(directory) : undefined
  const sources = existsSync(join(directory, 'src')) ? 'src' : '.'
  return {
    entry: entry?.path,
    instance:
      /\b(?:const|let|var) (\w+)[^=\n]*= (?:await )?(?:Fastify|fastify|createServer)\(/.exec(entry?.text ?? '')?.[1] ??
      'app',
    sources,
    language: isTypeScript ? 'typescript' : 'javascript',
    modules:
      /\.m[jt]s$/.test(entry?.path ?? '') || (type === 'module' && !/\.c[jt]s$/.test(entry?.path ?? ''))
        ? 'esm'
        : 'commonjs',
    importsTypeScript:
      options === undefined ||
      options.allowImportingTsExtensions === true ||
      options.rewriteRelativeImportExtensions === true,
    lacking: options === undefined ? [] : lackingOptions(options),
    output: sources === '.' && options?.noEmit !== true ? options?.outDir : undefined,
    fastify: installedVersion(directory, 'fastify') ?? declared.fastify,
    testRunner: testRunnerOf(Object.keys(declared)),
    dependencies: new Set(Object.keys(declared)),
  }
}

/** Returns what runs the tests of an application by the packages that it depends on. */
function testRunnerOf(names: string[]): TestRunner | undefined {
  if (names.includes('vitest')) return 'vitest'
  if (names.includes('tap')) return 'tap'
  return ['jest', 'mocha', 'ava', 'jasmine'].some((name) => names.includes(name)) ? undefined : 'node:test'
}

const names = ['app', 'server', 'index', 'main'].flatMap((name) =>
  ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs'].map((extension) => `${name}.${extension}`),
)

/** Returns the first of the usual modules that imports Fastify. */
function entryOf(directory: string): { path: string; text: string } | undefined {
  for (const path of ['src', '.'].flatMap((folder) => names.map((name) => join(folder, name)))) {
    if (!existsSync(join(directory, path))) continue
    const text = readFileSync(join(directory, path), 'utf8')
    if (/['"]fastify['"]/.test(text)) return { path, text }
  }
  return undefined
}

/** Returns the version of a package in the node_modules of a directory or of one above it. */
function installedVersion(directory: string, name: string): string | undefined {
  const places = directoriesFrom(directory).map((above) => join(above, 'node_modules', name))
  const found = places.find((place) => existsSync(place))
  return found && manifestIn(found).version
}

type Options = ReturnType<typeof projectOptions>

/** Values of TypeScript's enumerations, whose names it exports as the numbers. */
const es2020 = 7
const node16 = 3

/** Returns what the generated types need of the compiler, where tsconfig.json has something else. */
function lackingOptions({
  target,
  module = 0,
  moduleResolution,
  strict,
  strictNullChecks = strict,
}: Options): string[] {
  // Without moduleResolution, the modules of Node 16 and later bring their own, and older ones that of Node 10.
  const resolution = moduleResolution ?? (module >= 100 ? node16 : 0)
  return [
    ...(target !== undefined && target < es2020 ? ['"target": "ES2022", because an int64 is a bigint'] : []),
    ...(resolution < node16
      ? ['"module": "NodeNext", because fastify-contract has exports, which an older resolution does not read']
      : []),
    ...(strictNullChecks === true ? [] : ['"strict": true, because an optional property may be undefined']),
  ]
}

/** Returns whether a version such as 5.4.0 is older than another one. A range with ^ has each newer minor version. */
export function isOlder(version: string, than: string): boolean {
  const numbers = version.replace(/^(\^\d+).*/, '$1').match(/\d+/g) ?? []
  for (const [index, other] of (than.match(/\d+/g) ?? []).entries()) {
    const own = Number(numbers[index] ?? Number.POSITIVE_INFINITY)
    if (own !== Number(other)) return own < Number(other)
  }
  return false
}
