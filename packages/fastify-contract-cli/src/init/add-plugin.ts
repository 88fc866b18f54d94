import type { Compiled } from '../emit/compile.ts'
import { existingApplication, isOlder } from './existing-application.ts'
import { pluginFiles } from './plugin-files.ts'
import { pluginSteps } from './plugin-steps.ts'
import { outcome, type Written } from './summary.ts'
import { writeNewFiles } from './write-files.ts'

/** What `init --into` knows before it looks at the application. */
type Given = Omit<Written, 'files' | 'settings'> & {
  /** The path of the document within the application. */
  document: string
  /** The generated files, by path. */
  generated: Record<string, string>
  /** The versions of the packages for the manifest of the application. */
  packages: Record<'dependencies' | 'devDependencies', Record<string, string>>
  /** The range of Fastify's versions that the engine needs, such as ^5.12.8. */
  fastify: string
}

/**
 * Adds a plugin with the operations to an existing Fastify application, of which it changes no file. Returns what it wrote
 * and what the owner of the application has to add.
 *
 * @throws {Error} If a plugin cannot serve an operation, the Fastify of the application has an older major version, or
 *   one of the files exists. Then nothing is written.
 */
export async function addPlugin(given: Given): Promise<string> {
  const { compiled, directory, errors, handlers, generated, copies, document, fastify, packages, manager } = given
  const application = existingApplication(directory)
  const [major = ''] = /\d+/.exec(fastify) ?? []
  if (isOlder(application.fastify, major))
    throw new Error(
      `init: Fastify ${application.fastify} is too old; install fastify@${fastify} in the application first`,
    )
  checkOperations(compiled)
  const modules = pluginFiles(compiled, handlers, 'text' in errors ? errors.text : undefined, application)
  const files = { ...modules.files, ...generated }
  await writeNewFiles(directory, files, copies, 'move it away, or leave out --into')
  const older = isOlder(application.fastify, fastify) ? application.fastify : undefined
  const steps = {
    directory,
    application,
    written: modules,
    document,
    skipsOperations: compiled.skipped.length > 0,
    manager,
    packages: {
      dependencies: { ...packages.dependencies, ...(older !== undefined && { fastify: major }) },
      devDependencies: packages.devDependencies,
      older,
    },
  }
  const lines = outcome({ ...given, files: Object.keys(files) }, modules.errors, modules.plugin)
  return [...lines, ...pluginSteps(steps)].join('\n')
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
