import { join } from 'node:path'
import { runDev } from '../dev/reloader.ts'
import { commandLine } from './command-line.ts'
import { findDocument, findErrorModule, handlersModule } from './project-files.ts'

/** Runs `fastify-contract dev`. */
export async function run(args: string[]): Promise<void> {
  const { options, words } = commandLine(
    `fastify-contract dev [DOCUMENT] [--entry FILE] [--watch DIRECTORIES] [--bundle MODULE] [--trial NAME=VALUE]
                     [--document FILE] [--rules FILE] [--out DIRECTORY] [--errors FILE] [--handlers FILE]
                     [--docs DIRECTORY] [--skip-unsupported]

Runs the service and restarts it after every change below the folders of --entry and of the document, and below those of
--watch, which are separated by commas: it generates, checks types, bundles, and starts the new service on trial on free
ports. If that is ready, it replaces the running service; requests that arrive during the switch wait. After an error
the last working service keeps running.

--entry is the module that starts the service, else src/server.ts. The service must listen on the environment variables
HOST and PORT; if it has an admin server on MANAGEMENT_HOST and MANAGEMENT_PORT, its /readyz must respond with 200. This
command listens on these ports itself and forwards connections, so the log has its address. Without ACCESS_TOKENS it
creates a token with every scope, which stays valid after restarts.

--bundle is a module whose function bundle(DIRECTORY) bundles the service; by default esbuild does. --trial has
environment variables for the start on trial, separated by commas, such as those of an empty store. --docs is the
directory of the docs page, else dist/docs. The other options are those of fastify-contract generate.
`,
    {
      entry: join('src', 'server.ts'),
      watch: undefined,
      bundle: undefined,
      trial: undefined,
      document: undefined,
      rules: undefined,
      out: 'generated',
      errors: findErrorModule(),
      handlers: handlersModule,
      docs: join('dist', 'docs'),
      'skip-unsupported': false,
    },
    ['DOCUMENT'],
    args,
  )
  try {
    const { 'skip-unsupported': skipUnsupported, ...others } = options
    await runDev({ ...others, skipUnsupported, document: findDocument(words[0] ?? options.document) })
  } catch (error) {
    // The ports that are open keep the process running.
    console.error(`dev: ${(error as Error).message}`)
    process.exit(1)
  }
}
