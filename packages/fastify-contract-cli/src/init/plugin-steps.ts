import { dirname, relative } from 'node:path'
import { shellPath } from '../text/foreign-text.ts'
import { stringLiteral } from '../text/source-text.ts'
import type { ExistingApplication } from './existing-application.ts'
import type { PackageManager } from './package-manager.ts'
import type { PluginFiles } from './plugin-files.ts'

/** What the owner of an application has to add to it. */
export type PluginSteps = {
  directory: string
  application: ExistingApplication
  written: PluginFiles
  /** The path of the document within the application. */
  document: string
  skipsOperations: boolean
  manager: PackageManager
  /** The versions of the packages to install, and the older Fastify that one of them replaces. */
  packages: { dependencies: Record<string, string>; devDependencies: Record<string, string>; older: string | undefined }
}

/** Returns the commands and the lines that add the plugin to an application, of which `init` changes no file. */
export function pluginSteps(steps: PluginSteps): string[] {
  const { directory, application, written, manager, packages } = steps
  const { entry, instance, lacking, output } = application
  const { older } = packages
  return [
    '',
    'Next:',
    ...(relative('.', directory) === '' ? [] : [`  cd ${shellPath(directory)}`]),
    ...installation(application, manager, packages).map((line) => `  ${line}`),
    ...(older === undefined ? [] : [`The Fastify of the application, ${older}, is too old.`]),
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
    'generated/requests.http has a request for each operation.',
  ]
}

/** Returns the commands that install what package.json does not have. */
function installation(
  application: ExistingApplication,
  manager: PackageManager,
  { dependencies, devDependencies, older }: PluginSteps['packages'],
): string[] {
  const add = `${manager} ${manager === 'npm' ? 'install' : 'add'}`
  const missing = (versions: Record<string, string>) =>
    Object.entries(versions)
      .filter(([name]) => !application.dependencies.has(name) || (name === 'fastify' && older !== undefined))
      .map(([name, version]) => installable(name, version))
  const [own, development] = [missing(dependencies), missing(devDependencies)]
  return [
    ...(own.length === 0 ? [] : [`${add} ${own.join(' ')}`]),
    ...(development.length === 0 ? [] : [`${add} --save-dev ${development.join(' ')}`]),
  ]
}

/** Returns what installs a package: its file, or its version or a newer one without a breaking change. */
function installable(name: string, version: string): string {
  const [, file] = /^file:(.*)/.exec(version) ?? []
  return file === undefined ? `${name}@${version.replace(/^\^/, '')}` : shellPath(file.replace(/^(?=\w)/, './'))
}

/** Returns the members of package.json by which `generate` finds its files. */
function settings({ written, document, skipsOperations }: PluginSteps): string[] {
  const { errors, handlers, files } = written
  const options = [...(Object.hasOwn(files, errors) ? [`--errors ${errors}`] : []), `--handlers ${handlers}`]
  const script = { generate: `fastify-contract generate ${options.join(' ')}` }
  const own = { document, ...(skipsOperations && { skipUnsupported: true }) }
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
