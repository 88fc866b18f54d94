import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { compileContract } from '../../src/emit/compile.ts'
import type { Problem } from '../../src/rules/problems.ts'

/** What an engine makes of a document. */
export type Outcome = {
  /** Whether it is served without skipping operations. */
  isWhole: boolean
  served: number
  warnings: number
  /** The problems that cost operations; those without operations cost the document. */
  problems: Problem[]
  /** The stack of an error that does not explain what is wrong with the document. */
  crash?: string
  /** CPU time, which other processes do not change much. */
  milliseconds: number
  megabytes: number
}

/** The errors that explain what is wrong with a document. They are those of another copy of the source. */
const explanations = ['RejectedDocument', 'SourceError']

// The arguments are the directory of an engine and the path of a document; the output is one line of JSON.
const [engine = '', document = ''] = process.argv.slice(2)
const source = pathToFileURL(join(engine, 'src/emit/compile.ts')).href
const compile = ((await import(source)) as { compileContract: typeof compileContract }).compileContract
const outcome = await outcomeOf(false)
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
const milliseconds = Math.round((userCPUTime + systemCPUTime) / 1_000)
const megabytes = Math.round(maxRSS / 1_024)
process.stdout.write(`${JSON.stringify({ ...outcome, milliseconds, megabytes })}\n`)

async function outcomeOf(skipUnsupported: boolean): Promise<Omit<Outcome, 'milliseconds' | 'megabytes'>> {
  const none = { isWhole: false, served: 0, warnings: 0, problems: [] }
  try {
    const { routes, skipped, warnings } = await compile(document, { skipUnsupported })
    return { isWhole: !skipUnsupported, served: routes.operations.length, warnings: warnings.length, problems: skipped }
  } catch (error) {
    const { stack, message, problems } = error as Error & { problems?: Problem[] }
    if (!explanations.includes((error as Error).constructor.name)) return { ...none, crash: String(stack) }
    if (!skipUnsupported && problems !== undefined) return await outcomeOf(true)
    const whole = problems?.filter(({ operations }) => operations.length === 0) ?? []
    const all = [{ pointer: '#', text: message, operations: [] }]
    return { ...none, problems: problems === undefined ? all : whole.length > 0 ? whole : problems }
  }
}
