import { contractFiles } from './generate/contract-files.ts'
import { refuseStale } from './generate/generated-files.ts'
import { errorModule, loadErrorBody } from './generate/load-error-body.ts'
import { updateGenerated } from './generate/update-generated.ts'
import { printWarnings } from './generate/warnings.ts'
import { commandLine } from './system/command-line.ts'

const contract = 'openapi/plant-store.yaml'

const { options } = commandLine(
  `npm run generate [-- --check] [--document FILE] [--rules FILE] [--out DIRECTORY] [--errors FILE]

Lints and bundles the document and writes the files that the server and its client are built on. --rules is the
configuration of the linter. The bodies that errorBody in ${errorModule} makes must be what the responses
declare; --errors names another module to check with, for a --document of another service. Prints a handler for each
new operation, to be pasted: it never writes into src.

With --check it writes nothing, and exits with 1 and the names of stale files.
`,
  {
    check: false,
    document: contract,
    rules: 'redocly.yaml',
    out: 'generated',
    errors: errorModule,
  },
)

try {
  if (options.document === contract && options.errors !== errorModule) {
    throw new Error(
      `--errors: the service of ${contract} answers with ${errorModule}; change that, or name a --document`,
    )
  }
  const files = await contractFiles(options.document, options.rules, await loadErrorBody(options.errors))
  printWarnings(files, options.document)
  if (!options.check) {
    const written = await updateGenerated(files, options.out)
    console.log(written.length > 0 ? `wrote ${written.join(', ')}` : 'up to date')
  } else {
    await refuseStale(files, options.out)
  }
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
