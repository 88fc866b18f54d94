import { join } from 'node:path'
import { docsDefaults, docsDirectory } from '../docs/source-mark.ts'
import { commandLine } from './command-line.ts'
import { projectDocuments } from './project-documents.ts'
import { documentHelp, handlersModule } from './project-files.ts'

/** Runs `fastify-contract dev`. */
export async function run(args: string[]): Promise<void> {
  const { options, words } = commandLine(
    `fastify-contract dev [DOCUMENT] [OPTIONS]

Runs the service and restarts it after each change of the document or of a source file: it generates, bundles, and
starts the new service on free ports. Once that is ready, it replaces the running service, which finishes its requests.
If it does not start, the last working service keeps running. Errors of types follow when they are checked, and the new
service runs meanwhile. With --trial, the new service starts twice, if its types are right: on trial, and once the old
one has ended; requests that arrive during the switch wait.
Installed packages are loaded before the next change: after an edit in node_modules, start dev again.

The service must listen on the environment variables HOST and PORT; if it has an admin server on MANAGEMENT_HOST and
MANAGEMENT_PORT, its /readyz must respond with 200. This command listens on these ports itself and forwards connections
to free ports, which the log of the service names. Without ACCESS_TOKENS it creates a token with every scope, which
stays valid after restarts. Variables that are not set come from .env, if it exists.

${documentHelp}
--entry FILE          the module that starts the service (default: src/server.ts); its directory is watched
--watch DIRECTORIES   other directories to watch, separated by commas
--bundle MODULE       a module whose function bundle(DIRECTORY) bundles the service (default: esbuild bundles it)
--trial NAME=VALUE    environment variables for a start on trial, separated by commas, such as those of an empty store
                      if the store allows one process only (default: no such start)
--docs DIRECTORY      the directory of the documentation, which is written after each change of the document (default:
                      ${docsDirectory})
--out, --errors, --handlers    as for fastify-contract generate
`,
    {
      entry: join('src', 'server.ts'),
      watch: undefined,
      bundle: undefined,
      trial: undefined,
      document: undefined,
      only: undefined,
      overlays: undefined,
      rules: undefined,
      out: 'generated',
      errors: undefined,
      handlers: handlersModule,
      docs: docsDirectory,
      'skip-unsupported': false,
    },
    ['DOCUMENT'],
    args,
  )
  const { loadEnvironmentFile } = await import('fastify-contract/service')
  const { runDev } = await import('../dev/reloader.ts')
  try {
    loadEnvironmentFile('.env')
    const { only, overlays, rules, entry, watch, bundle, trial, docs } = options
    const documents = projectDocuments({ given: words[0] ?? options.document, only, overlays })
    await runDev({
      documents: documents.map((one) => ({
        name: one.name,
        prefix: one.prefix,
        document: one.path(),
        overlays: one.overlays(),
        errors: one.errorModule(options.errors),
        handlers: one.own(options.handlers),
        skipUnsupported: one.skipsUnsupported(options['skip-unsupported']),
        out: one.in(options.out),
        docs: one.pagesIn(docs),
        released: one.in(docsDefaults.released),
        client: one.client(undefined),
      })),
      rules,
      docs,
      entry,
      watch,
      bundle,
      trial,
    })
  } catch (error) {
    // The ports that are open keep the process running.
    console.error(`dev: ${(error as Error).message}`)
    process.exit(1)
  }
}
