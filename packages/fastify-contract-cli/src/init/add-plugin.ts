import type { Compiled } from '../emit/compile.ts'
import { existingApplication, isOlder } from './existing-application.ts'
import { fastifyRange, type OwnPackage } from './own-packages.ts'
import { pluginFiles } from './plugin-files.ts'
import { pluginSteps } from './plugin-steps.ts'
import { type Outcome, outcome } from './summary.ts'
import { writeNewFiles } from './write-files.ts'

/** What `init --into` knows before it looks at the application. */
type Given = Omit<Outcome, 'files'> & {
  /** The path of the document within the application. */
  document: string
  /** The URL from which it was fetched. */
  origin: string | undefined
  /** The generated files, by path. */
  generated: Record<string, string>
  /** The packages that the application needs: the engine, and the commands for development. */
  packages: Record<'fastify-contract' | 'fastify-contract-cli', OwnPackage>
}

/**
 * Adds a plugin with the operations to an existing Fastify application, of which it changes no file. Returns what it wrote
 * and what the owner of the application has to add.
 *
 * @throws {Error} If a plugin cannot serve an operation, the Fastify of the application has an older major version, or
 *   one of the files exists. Then nothing is written.
 */
export async function addPlugin(given: Given): Promise<string> {
  const { compiled, directory, errors, handlers, generated, copies, document, origin, packages, manager } = given
  const application = existingApplication(directory)
  const range = fastifyRange()
  const [major = ''] = /\d+/.exec(range) ?? []
  if (isOlder(application.fastify, major))
    throw new Error(
      `init: Fastify ${application.fastify} is too old; install fastify@${range} in the application first`,
    )
  checkOperations(compiled)
  const modules = pluginFiles(compiled, handlers, 'text' in errors ? errors.text : undefined, application)
  const files = { ...modules.files, ...generated }
  const missing = Object.entries(packages).filter(([name]) => !application.dependencies.has(name))
  const own = missing.map(([, one]) => one)
  await writeNewFiles(directory, files, copies, own, 'move it away, or leave out --into')
  const steps = {
    directory,
    application,
    written: modules,
    document,
    origin,
    skipsOperations: compiled.skipped.length > 0,
    manager,
    missing: Object.fromEntries(missing.map(([name, { version }]) => [name, version])),
    newerFastify: isOlder(application.fastify, range) ? major : undefined,
  }
  const written = { ...given, files: [...Object.keys(files), ...own.flatMap(({ to }) => to ?? [])] }
  return [outcome(written, { ...modules, app: modules.plugin }), ...pluginSteps(steps)].join('\n')
}

/** Throws an error for operations that only a whole server can serve, as the plugin would when the application starts. */
function checkOperations({ routes }: Compiled): void {
  const whole = routes.operations.filter(
    ({ method, schema, selectors }) => selectors !== undefined || (method === 'GET' && schema.body !== undefined),
  )
  if (whole.length === 0) return
  const names = whole.map(({ operationId }) => operationId).join(', ')
  throw new Error(
    `init: a plugin cannot serve ${names}, a GET with a body or an operation that a parameter selects; leave out --into`,
  )
}
