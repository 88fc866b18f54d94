import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { UsageError } from 'fastify-contract/token-command'
import { type Run, RunRecord } from '../digests/run-record.ts'
import { docsDirectory, isCurrent } from '../docs/source-mark.ts'
import type { Compiled } from '../emit/compile.ts'
import { surplusProblems } from '../emit/surplus-files.ts'
import { visible } from '../text/source-text.ts'
import { commandLine } from './command-line.ts'
import { withProgress } from './progress.ts'
import {
  documentHelp,
  errorModule,
  findDocument,
  findErrorModule,
  handlersModule,
  loadErrorModule,
  overlaysOf,
  sampleClient,
  skipsUnsupported,
} from './project-files.ts'
import { listOf, projectSettings } from './project-settings.ts'
import { keepYoungGeneration } from './run-once.ts'

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
      overlays: undefined,
      rules: undefined,
      out: 'generated',
      errors: findErrorModule(),
      handlers: handlersModule,
    },
    ['DOCUMENT'],
    args,
  )
  const given = words[0] ?? options.document
  const { rules, errors, out, handlers, check, 'skip-unsupported': skipUnsupported } = options
  const allowedOrigins = listOf(options['allow-origin'])
  if (options.update) {
    if (given !== undefined) throw new UsageError('generate: --update has the document of package.json; name no other')
    const { updateDocument } = await import('./update-document.ts')
    const body = errors === undefined ? undefined : await loadErrorModule(errors)
    const overlays = overlaysOf(projectSettings().document ?? '', options.overlays)
    await updateDocument({ overlays, rules, errors: body, out, handlers, check, skipUnsupported, allowedOrigins })
    return check ? undefined : await updateDocs(out)
  }
  const document = findDocument(given)
  const overlays = overlaysOf(document, options.overlays)
  const record = RunRecord.of({ document, overlays: JSON.stringify(overlays), rules, errors, out, skipUnsupported })
  const run = record?.unchanged()
  if (run !== undefined) {
    reportUnchanged(run, out, check)
    return check ? undefined : await updateDocs(out)
  }
  const { generateFiles } = await import('./generate-files.ts')
  keepYoungGeneration(process.versions.node)
  const task = { document, overlays, rules, errors, out, handlers, check, skipUnsupported, allowedOrigins, record }
  const compiled = await generateFiles(task)
  if (!check) await updateDocs(out, compiled)
}

/** Prints what a whole run would print. Throws, with --check, if there are files that are not generated. */
function reportUnchanged({ warnings, outputs }: Run, out: string, check: boolean): void {
  for (const warning of warnings) console.warn(visible(warning))
  const problems = surplusProblems(
    outputs.map(([path]) => relative(out, path)),
    out,
  )
  if (check && problems.length > 0) throw new Error(problems.join('\n'))
  for (const problem of problems) console.warn(problem)
  if (!check) console.log('up to date')
}

/** Brings the documentation up to date if there is one. */
async function updateDocs(generated: string, compiled?: Compiled): Promise<void> {
  const options = { generated, client: sampleClient() }
  if (!existsSync(join(docsDirectory, 'index.html')) || (await isCurrent(docsDirectory, options))) return
  const { writeDocs } = await import('../docs/docs-page.ts')
  await withProgress(function showDocs(onStep) {
    onStep('writing the documentation')
    return writeDocs(docsDirectory, options, compiled)
  })
}
