import { existsSync } from 'node:fs'
import { lineText } from '../text/source-text.ts'
import { commandLine } from './command-line.ts'
import { withProgress } from './progress.ts'
import { forEachDocument, type ProjectDocument, projectDocuments } from './project-documents.ts'

/** Runs `fastify-contract lint`. */
export async function run(args: string[]): Promise<void> {
  const { options, words } = commandLine(
    `fastify-contract lint [DOCUMENT] [OPTIONS]

Advises on the style of the document, and on what some clients cannot send: prints one line for each finding. No other
command requires a style. It exits with 1 if a finding has the severity error, which only rules of your own can have.

DOCUMENT        the OpenAPI document, also as --document FILE (default: that of package.json, or openapi.yaml
                or the only openapi/*.yaml)
--only NAME     one of several documents that package.json names (default: all; see docs/versions.md)
--overlays LIST the overlays of DOCUMENT, files separated by commas (default: those of package.json if DOCUMENT is
                the one that it names)
--rules FILE    the rules, a configuration of Redocly (https://redocly.com/docs/cli/configuration); default:
                redocly.yaml if it exists, otherwise recommended rules, all as warnings
`,
    { document: undefined, only: undefined, overlays: undefined, rules: undefined },
    ['DOCUMENT'],
    args,
  )
  const { only, overlays, rules } = options
  const own = rules ?? (existsSync('redocly.yaml') ? 'redocly.yaml' : undefined)
  const documents = projectDocuments({ given: words[0] ?? options.document, only, overlays })
  await forEachDocument(documents, 'titled', (one) => lintDocument(one, own))
}

/** Prints the findings of a document. Its rules are `own`, if the project has some. */
async function lintDocument(one: ProjectDocument, own: string | undefined): Promise<void> {
  const { lint, styleRules } = await import('../redocly/redocly.ts')
  const { readDocument } = await import('../read/read-document.ts')
  const { clientFindings } = await import('../emit/client-findings.ts')
  const document = one.path()
  const overlays = one.overlays()
  const findings = await withProgress(async function showLint(onStep) {
    onStep(`checking the style of ${document}`)
    const sources = await readDocument(document, { overlays })
    // The linter runs in a thread of its own.
    const both = [lint(document, own ?? styleRules, sources), clientFindings(document, sources, own)]
    return (await Promise.all(both)).flat()
  })
  for (const { severity, message, ruleId, location } of findings) {
    const [{ source, start } = { source: { ref: document }, start: { line: 1, col: 1 } }] = location
    // Findings of the recommended rules are advice, whatever their severity.
    const level = own === undefined || severity === 'warn' ? 'warning' : 'error'
    console.log(lineText(`${source.ref}:${start.line}:${start.col} ${level} ${ruleId}: ${message}`))
  }
  const errors = own === undefined ? 0 : findings.filter(({ severity }) => severity === 'error').length
  console.log(findings.length === 0 ? 'no findings' : `${findings.length} findings, ${errors} errors`)
  if (errors > 0) process.exitCode = 1
}
