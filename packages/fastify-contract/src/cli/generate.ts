import { compileContract } from '../compile/compile.ts'
import { rejectStale } from '../compile/emit/generated-files.ts'
import { updateGenerated } from '../compile/emit/handler-stubs.ts'
import { commandLine } from './command-line.ts'
import { errorModule, findDocument, findErrorModule, handlersModule, loadErrorModule } from './project-files.ts'

/** Runs `fastify-contract generate`. */
export async function run(args: string[]): Promise<void> {
  const { options, words } = commandLine(
    `fastify-contract generate [DOCUMENT] [--check] [--skip-unsupported] [--document FILE] [--rules FILE]
                          [--out DIRECTORY] [--errors FILE] [--handlers FILE]

Bundles an OpenAPI document and writes the files that the server and its client are built on. Prints a handler for each
new operation to paste into ${handlersModule}, or the file of --handlers; it never writes there. If an operation cannot
be served as the document describes it, it lists the problems and exits with 1. With --skip-unsupported the service
responds to such operations with 501, and skipped-operations.json lists them with the reasons.

The document is DOCUMENT or --document, else openapi.yaml or the only openapi/*.yaml. --rules is the configuration for
bundling, such as decorators, else redocly.yaml if there is one. --out is where the files go, else generated. The bodies
that errorBody in ${errorModule} returns, if there is one, must match the declared responses; --errors names another
module.

With --check it writes nothing; it prints the names of stale files and exits with 1 if there are any.
`,
    {
      check: false,
      'skip-unsupported': false,
      document: undefined,
      rules: undefined,
      out: 'generated',
      errors: findErrorModule(),
      handlers: handlersModule,
    },
    ['DOCUMENT'],
    args,
  )
  const document = findDocument(words[0] ?? options.document)
  const errors = options.errors === undefined ? undefined : await loadErrorModule(options.errors)
  const { rules, 'skip-unsupported': skipUnsupported } = options
  const compiled = await compileContract(document, { rules, errors, skipUnsupported })
  for (const warning of compiled.warnings) console.warn(`${document}: ${warning}`)
  if (options.check) return await rejectStale(compiled.files, options.out)
  const written = await updateGenerated(compiled, options.out, options.handlers)
  console.log(written.length > 0 ? `wrote ${written.join(', ')}` : 'up to date')
}
