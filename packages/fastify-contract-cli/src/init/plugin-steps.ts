import { dirname, relative } from 'node:path'
import { shellPath } from '../text/foreign-text.ts'
import { stringLiteral } from '../text/source-text.ts'
import type { ExistingApplication } from './existing-application.ts'
import type { PluginFiles } from './files/plugin-files.ts'
import type { PackageManager } from './package-manager.ts'

/** What the owner of an application has to add to it. */
export type PluginSteps = {
  directory: string
  application: ExistingApplication
  written: PluginFiles
  /** The path of the document within the application. */
  document: string
  /** The URL from which it was fetched. */
  origin: string | undefined
  /** The paths of its overlays within the application. */
  overlays: string[]
  skipsOperations: boolean
  manager: PackageManager
  /** The versions of the packages to install, by name. */
  missing: Partial<Record<string, string>>
  /** The version of Fastify to install if that of the application is too old. */
  newerFastify: string | undefined
}

/** Returns the commands and the lines that add the plugin to an application, of which `init` changes no file. */
export function pluginSteps(steps: PluginSteps): string[] {
  const { directory, application, written, newerFastify } = steps
  const { entry, instance, lacking, output } = application
  const exec = { npm: 'npx', pnpm: 'pnpm exec' }[steps.manager]
  const testPath = Object.keys(written.files).find((path) => /\bcontract\.test\./.test(path))
  return [
    '',
    'Next:',
    ...(relative('.', directory) === '' ? [] : [`  cd ${shellPath(directory)}`]),
    ...installation(steps).map((line) => `  ${line}`),
    ...(newerFastify === undefined ? [] : [`The Fastify of the application, ${application.fastify}, is too old.`]),
    '',
    'Add to package.json:',
    ...settings(steps).map((line) => `  ${line}`),
    '',
    entry === undefined ? 'Add where the application is created:' : `Add to ${entry}:`,
    ...registration(application, written.plugin).map((line) => `  ${line}`),
    ...(lacking.length === 0 ? [] : ['', 'Change in tsconfig.json:', ...lacking.map((line) => `  ${line}`)]),
    ...(output === undefined ? [] : ['', `After each build, copy generated/ into ${output}.`]),
    '',
    `If a path of the document is also one of the application, register with a prefix: ${instance}.register(…, { prefix: '/api' })`,
    ...Object.keys(written.files)
      .filter((path) => /\bverify-token\./.test(path))
      .map(
        (path) => `${path} accepts the tokens of ACCESS_TOKENS, and none without it. Replace it by your own verifier.`,
      ),
    ...(written.hasKeys
      ? [`${written.plugin} keeps idempotency keys in memory. For several instances, use a store that they share.`]
      : []),
    'generated/requests.http has a request for each operation.',
    `To test the operations by the document, run ${exec} fastify-contract test${testPath === undefined ? '' : `, or ${testPath}`}.`,
  ]
}

/** Returns the commands that install what package.json does not have. */
function installation({ manager, missing, newerFastify }: PluginSteps): string[] {
  const add = `${manager} ${manager === 'npm' ? 'install' : 'add'}`
  const { 'fastify-contract': engine, 'fastify-contract-cli': commands } = missing
  const own = [
    ...(engine === undefined ? [] : [installable('fastify-contract', engine)]),
    ...(newerFastify === undefined ? [] : [`fastify@${newerFastify}`]),
  ]
  return [
    ...(own.length === 0 ? [] : [`${add} ${own.join(' ')}`]),
    ...(commands === undefined ? [] : [`${add} --save-dev ${installable('fastify-contract-cli', commands)}`]),
  ]
}

/** Returns what installs a package: its file, or its version or a newer one without a breaking change. */
function installable(name: string, version: string): string {
  const [, file] = /^file:(.*)/.exec(version) ?? []
  return file === undefined ? `${name}@${version.replace(/^\^/, '')}` : shellPath(file.replace(/^(?=\w)/, './'))
}

/** Returns the members of package.json by which `generate` finds its files. */
function settings({ written, document, origin, overlays, skipsOperations }: PluginSteps): string[] {
  const { errors, handlers, files } = written
  const options = [...(Object.hasOwn(files, errors) ? [`--errors ${errors}`] : []), `--handlers ${handlers}`]
  const script = { generate: `fastify-contract generate ${options.join(' ')}` }
  const own = {
    document,
    ...(origin !== undefined && { origin }),
    ...(overlays.length > 0 && { overlays }),
    ...(skipsOperations && { skipUnsupported: true }),
  }
  return [`"scripts": ${JSON.stringify(script)},`, `"fastify-contract": ${JSON.stringify(own)}`]
}

function registration(
  { entry, instance, sources, modules, importsTypeScript }: ExistingApplication,
  plugin: string,
): string[] {
  const path = importsTypeScript ? plugin : plugin.replace(/ts$/, 'js')
  const module = stringLiteral(`./${relative(entry === undefined ? sources : dirname(entry), path)}`)
  return modules === 'esm'
    ? [`import contractRoutes from ${module}`, `${instance}.register(contractRoutes)`]
    : [`${instance}.register(import(${module}))`]
}
