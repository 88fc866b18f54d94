import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from 'fastify-contract/token-command'
import { docsDirectory, writeStaleDocs } from '../docs/docs-page.ts'
import { type Compiled, compileContract } from '../emit/compile.ts'
import { rejectStale, updateGenerated } from '../emit/generated-files.ts'
import { readDocument } from '../read/read-document.ts'
import { visible } from '../text/source-text.ts'
import { commandLine } from './command-line.ts'
import {
  documentHelp,
  errorModule,
  findDocument,
  findErrorModule,
  handlersModule,
  loadErrorModule,
  sampleClient,
  skipsUnsupported,
} from './project-files.ts'
import { listOf, projectSettings } from './project-settings.ts'
import { updateDocument } from './update-document.ts'

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
--update              fetch the document again from the URL that init has written into package.json, list its
                      changes, and write it if it can be served; with --check, exit with 1 if it has changed
--allow-origin LIST   other origins to which a fetched document may refer (default: those of package.json)
--check               write nothing; print the names of stale files, and exit with 1 if there are any
`,
    {
      check: false,
      update: false,
      'allow-origin': projectSettings().allowOrigin,
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
  const given = words[0] ?? options.document
  const errors = options.errors === undefined ? undefined : await loadErrorModule(options.errors)
  const { rules, 'skip-unsupported': skipUnsupported } = options
  const allowedOrigins = listOf(options['allow-origin'])
  if (options.update) {
    if (given !== undefined) throw new UsageError('generate: --update has the document of package.json; name no other')
    await updateDocument({ ...options, rules, errors, skipUnsupported, allowedOrigins })
    return options.check ? undefined : await updateDocs(options.out)
  }
  const document = findDocument(given)
  const sources = await readDocument(document, { allowedOrigins })
  const compiled = await compileContract(document, { rules, errors, skipUnsupported, sources })
  for (const warning of compiled.warnings) console.warn(visible(`${document}: ${warning}`))
  if (options.check) return await rejectStale(compiled.files, options.out)
  const written = await updateGenerated(compiled, options.out, options.handlers)
  console.log(written.length > 0 ? `wrote ${written.join(', ')}` : 'up to date')
  await updateDocs(options.out, compiled)
}

/** Brings the documentation up to date if there is one. */
async function updateDocs(generated: string, compiled?: Compiled): Promise<void> {
  if (existsSync(join(docsDirectory, 'index.html')))
    await writeStaleDocs(docsDirectory, { generated, client: sampleClient() }, compiled)
}
