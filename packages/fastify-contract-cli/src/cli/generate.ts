import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { writeStaleDocs } from '../docs/docs-page.ts'
import { compileContract } from '../emit/compile.ts'
import { rejectStale, updateGenerated } from '../emit/generated-files.ts'
import { visible } from '../text/source-text.ts'
import { commandLine } from './command-line.ts'
import {
  docsDirectory,
  documentHelp,
  errorModule,
  findDocument,
  findErrorModule,
  handlersModule,
  loadErrorModule,
  sampleClient,
  skipsUnsupported,
} from './project-files.ts'

/** Runs `fastify-contract generate`. */
export async function run(args: string[]): Promise<void> {
  const { options, words } = commandLine(
    `fastify-contract generate [DOCUMENT] [OPTIONS]

Writes the files that the server and its client are built on, and prints a handler for each new operation, to paste into
the module of the handlers. If an operation cannot be served as the document describes it, the command lists the
problems and exits with 1. If ${docsDirectory} has the documentation, it is brought up to date.

${documentHelp}
--out DIRECTORY       the directory of the generated files (default: generated)
--errors FILE         the module of errorBody; its bodies must match the declared responses (default:
                      ${errorModule} if it exists)
--handlers FILE       the module of the handlers, which is only read (default: ${handlersModule})
--check               write nothing; print the names of stale files, and exit with 1 if there are any
`,
    {
      check: false,
      'skip-unsupported': skipsUnsupported(),
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
  for (const warning of compiled.warnings) console.warn(visible(`${document}: ${warning}`))
  if (options.check) return await rejectStale(compiled.files, options.out)
  const written = await updateGenerated(compiled, options.out, options.handlers)
  console.log(written.length > 0 ? `wrote ${written.join(', ')}` : 'up to date')
  if (existsSync(join(docsDirectory, 'index.html')))
    await writeStaleDocs(docsDirectory, { generated: options.out, client: sampleClient() })
}
