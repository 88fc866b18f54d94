import { compileContract } from '../compile/compile.ts'
import { rejectStale } from '../compile/emit/generated-files.ts'
import { updateGenerated } from '../compile/emit/handler-stubs.ts'
import { loadErrorBody } from '../compile/rules/error-bodies.ts'
import { commandLine } from './command-line.ts'

const contract = 'openapi/plant-store.yaml'
const errorModule = 'src/error-body.ts'
const handlersModule = 'src/handlers.ts'

const { options } = commandLine(
  `npm run generate [-- --check] [--document FILE] [--rules FILE] [--out DIRECTORY] [--errors FILE]
                    [--handlers FILE]

Lints and bundles the document and writes the files that the server and its client are built on. --rules is the
configuration of the linter. The bodies that errorBody in ${errorModule} returns must match the declared responses;
--errors names another module with errorBody, for a --document of another service. Prints a handler for each new
operation to paste into ${handlersModule}, or the file of --handlers; it never writes into src.

With --check it writes nothing; it prints the names of stale files and exits with 1 if there are any.
`,
  {
    check: false,
    document: contract,
    rules: 'redocly.yaml',
    out: 'generated',
    errors: errorModule,
    handlers: handlersModule,
  },
)

try {
  if (options.document === contract && options.errors !== errorModule) {
    throw new Error(
      `--errors: the service of ${contract} always uses ${errorModule}; edit that file, or give another --document`,
    )
  }
  const compiled = await compileContract(options.document, options.rules, await loadErrorBody(options.errors))
  for (const warning of compiled.warnings) console.warn(`${options.document}: ${warning}`)
  if (!options.check) {
    const written = await updateGenerated(compiled, options.out, options.handlers)
    console.log(written.length > 0 ? `wrote ${written.join(', ')}` : 'up to date')
  } else {
    await rejectStale(compiled.files, options.out)
  }
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
