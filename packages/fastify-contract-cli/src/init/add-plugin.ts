import type { Compiled } from '../emit/compile.ts'
import { existingApplication, isOlder } from './existing-application.ts'
import { pluginFiles } from './files/plugin-files.ts'
import { fastifyRange } from './own-packages.ts'
import { pluginSteps } from './plugin-steps.ts'
import { outcome } from './summary.ts'
import { writeNewFiles } from './write-files.ts'
import type { Draft } from './write-project.ts'

/**
 * Adds a plugin with the operations to an existing Fastify application, of which it changes no file. Returns what it wrote
 * and what the owner of the application has to add.
 *
 * @throws {Error} If a plugin cannot serve an operation, the Fastify of the application has an older major version, or
 *   one of the files exists. Then nothing is written.
 */
export async function addPlugin(draft: Draft): Promise<string> {
  const { compiled, directory, errors, handlers, generated, copies, document, origin, overlays, manager } = draft
  const packages = { 'fastify-contract': draft.packages.engine, 'fastify-contract-cli': draft.packages.commands }
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
  const written = await writeNewFiles(directory, files, copies, own, 'move it away, or leave out --into')
  const steps = {
    directory,
    application,
    written: modules,
    document,
    origin,
    overlays,
    skipsOperations: compiled.skipped.length > 0,
    manager,
    missing: Object.fromEntries(missing.map(([name, { version }]) => [name, version])),
    newerFastify: isOlder(application.fastify, range) ? major : undefined,
  }
  return [outcome({ ...draft, files: written }, { ...modules, app: modules.plugin }), ...pluginSteps(steps)].join('\n')
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
