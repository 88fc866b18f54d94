import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { UsageError } from 'fastify-contract/token-command'
import { type Run, RunRecord } from '../digests/run-record.ts'
import { docsDefaults, docsDirectory, isCurrent } from '../docs/source-mark.ts'
import type { Compiled } from '../emit/compile.ts'
import { surplusProblems } from '../emit/surplus-files.ts'
import { visible } from '../text/source-text.ts'
import { commandLine } from './command-line.ts'
import type { GenerateOptions } from './generate-files.ts'
import { withProgress } from './progress.ts'
import {
  documentNames,
  documentPrefixes,
  forEachDocument,
  type ProjectDocument,
  projectDocuments,
} from './project-documents.ts'
import { documentHelp, errorModule, handlersModule, loadErrorModule } from './project-files.ts'
import { listOf } from './project-settings.ts'
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
      'allow-origin': undefined,
      'skip-unsupported': false,
      document: undefined,
      only: undefined,
      overlays: undefined,
      rules: undefined,
      out: 'generated',
      errors: undefined,
      handlers: handlersModule,
    },
    ['DOCUMENT'],
    args,
  )
  const { only, overlays, out, update, check, 'skip-unsupported': skipUnsupported } = options
  const given = words[0] ?? options.document
  if (update && given !== undefined)
    throw new UsageError('generate: --update has the document of package.json; name no other')
  const documents = projectDocuments({ given, only, overlays })
  const hasOrigin = documents.some(({ settings }) => settings.origin !== undefined)
  await forEachDocument(documents, check ? 'plain' : 'titled', generate)
  if (given === undefined && only === undefined) reportOthers(out, check)

  async function generate(one: ProjectDocument): Promise<void> {
    const files: DocumentFiles = {
      overlays: one.overlays(),
      rules: options.rules,
      errors: one.errorModule(options.errors),
      out: one.in(out),
      handlers: one.own(options.handlers),
      check,
      skipUnsupported: one.skipsUnsupported(skipUnsupported),
      allowedOrigins: listOf(options['allow-origin'] ?? one.settings.allowOrigin),
    }
    // Of several documents, some may be files of the project.
    const isFetched = update && (one.settings.origin !== undefined || !hasOrigin)
    const compiled = await (isFetched ? updateFiles(one, files) : generateChanged(one.path(), files))
    if (!check) await updateDocs(one, files.out, compiled)
  }
}

/** What is generated of a document. */
type DocumentFiles = Omit<GenerateOptions, 'document' | 'record'>

/** Fetches a document again, and generates its files. */
async function updateFiles(one: ProjectDocument, { errors, ...files }: DocumentFiles): Promise<undefined> {
  const { updateDocument } = await import('./update-document.ts')
  const body = errors === undefined ? undefined : await loadErrorModule(errors)
  await updateDocument(one, { ...files, errors: body })
}

/** Generates the files of a document, unless they would be the same. Returns what the document was compiled to, if so. */
async function generateChanged(document: string, files: DocumentFiles): Promise<Compiled | undefined> {
  const { overlays, rules, errors, out, check, skipUnsupported } = files
  const record = RunRecord.of({ document, overlays: JSON.stringify(overlays), rules, errors, out, skipUnsupported })
  const run = record?.unchanged()
  if (run !== undefined) {
    reportUnchanged(run, out, check)
    return undefined
  }
  const { generateFiles } = await import('./generate-files.ts')
  keepYoungGeneration(process.versions.node)
  return await generateFiles({ ...files, document, record })
}

/** Reports what is beside the directories of several documents, such as that of one which is no longer in package.json. */
function reportOthers(out: string, check: boolean): void {
  const names = documentNames()
  const problems = names.length === 0 ? [] : surplusProblems(names, out)
  reportProblems(problems, check)
}

/** Prints what a whole run would print. Throws, with --check, if there are files that are not generated. */
function reportUnchanged({ warnings, outputs }: Run, out: string, check: boolean): void {
  for (const warning of warnings) console.warn(visible(warning))
  const problems = surplusProblems(
    outputs.map(([path]) => relative(out, path)),
    out,
  )
  reportProblems(problems, check)
  if (!check) console.log('up to date')
}

/** Throws, with --check, if there are problems, and warns of them otherwise. */
function reportProblems(problems: string[], check: boolean): void {
  if (check && problems.length > 0) throw new Error(problems.join('\n'))
  for (const problem of problems) console.warn(problem)
}

/** Brings the documentation of a document up to date if there is one. */
async function updateDocs(one: ProjectDocument, generated: string, compiled: Compiled | undefined): Promise<void> {
  const directory = one.pagesIn(docsDirectory)
  const options = { generated, released: one.in(docsDefaults.released), client: one.client(undefined) }
  if (!existsSync(join(directory, 'index.html')) || (await isCurrent(directory, options))) return
  const { writeDocs } = await import('../docs/docs-page.ts')
  await withProgress(async function showDocs(onStep) {
    onStep('writing the documentation')
    await writeDocs(directory, options, compiled)
    if (one.name === undefined) return
    const { writeIndexPage } = await import('../docs/index-page.ts')
    await writeIndexPage(docsDirectory, documentPrefixes())
  })
}
