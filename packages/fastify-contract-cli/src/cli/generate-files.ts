import { join, resolve } from 'node:path'
import { type FileStates, stateOf } from '../digests/file-state.ts'
import { moduleStates } from '../digests/module-states.ts'
import type { RunRecord } from '../digests/run-record.ts'
import { type Compiled, compileContract } from '../emit/compile.ts'
import { rejectStale, updateGenerated } from '../emit/generated-files.ts'
import { isUrl } from '../fetch/url-rules.ts'
import { readDocument } from '../read/read-document.ts'
import { configurationStates } from '../redocly/configuration-states.ts'
import { visible } from '../text/source-text.ts'
import { fetchingStep, type Step, withProgress } from './progress.ts'
import { loadErrorModule } from './project-files.ts'

/** The options of `generate`. */
export type GenerateOptions = {
  document: string
  /** The paths of the overlays of the document. */
  overlays: string[]
  rules: string | undefined
  /** The module of errorBody. */
  errors: string | undefined
  out: string
  handlers: string
  check: boolean
  skipUnsupported: boolean
  allowedOrigins: string[]
  /** Where the run is kept, if anywhere. */
  record: RunRecord | undefined
}

/**
 * Generates the files of a document, or only compares them with `check`, keeps what the run depended on, and returns what
 * the document was compiled to.
 */
export async function generateFiles(options: GenerateOptions): Promise<Compiled> {
  const { document, overlays, rules, out, handlers, check, skipUnsupported, allowedOrigins, record } = options
  const { compiled, states } = await withProgress(compile)
  const warnings = compiled.warnings.map((warning) => visible(`${document}: ${warning}`))
  for (const warning of warnings) console.warn(warning)
  if (check) await rejectStale(compiled.files, out)
  else {
    const written = await updateGenerated(compiled, out, handlers)
    console.log(written.length > 0 ? `wrote ${written.join(', ')}` : 'up to date')
  }
  if (states !== undefined) record?.keep({ inputs: states, outputs: outputsOf(compiled, out), warnings })
  return compiled

  async function compile(
    onStep: Step,
  ): Promise<{ compiled: Compiled; states: [path: string, state: string][] | undefined }> {
    // The states are taken before the files are used: a file that changes meanwhile has another one next time.
    const states = record === undefined || isUrl(document) ? undefined : await statesOf(options)
    const errors = options.errors === undefined ? undefined : await loadErrorModule(options.errors)
    onStep(`reading ${document}`)
    const sources = await readDocument(document, { overlays, allowedOrigins, onFile: fetchingStep(onStep) })
    const compiled = await compileContract(document, { rules, errors, skipUnsupported, sources, onStep })
    return { compiled, states: states && [...states, ...sources.states] }
  }
}

const outputsOf = ({ files }: Compiled, out: string): [path: string, state: string][] =>
  Object.entries(files).map(([name, text]) => [join(out, name), stateOf(text)])

/** Returns the states of the files besides those of the document; undefined if these are not all that a run depends on. */
async function statesOf({ rules, errors }: GenerateOptions): Promise<FileStates | undefined> {
  const modules = errors === undefined ? new Map() : await moduleStates([resolve(errors)])
  // The run reports a configuration that cannot be read.
  const configuration = await configurationStates(rules).catch(() => undefined)
  return modules && configuration && new Map([...modules, ...configuration])
}
