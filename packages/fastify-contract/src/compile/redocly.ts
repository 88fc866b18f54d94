import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join as joinPaths, resolve } from 'node:path'
import { promisify } from 'node:util'
import { withoutDynamicReferences } from './document/dynamic-references.ts'
import { join, keysOf } from './document/json-pointer.ts'
import type { Document } from './document/openapi-document.ts'
import { placeText, type Source, SourceError } from './read/read-source.ts'
import { copyFor, type Edits } from './read/source-copies.ts'
import { readSources, type Sources } from './read/source-files.ts'
import { onFiles, withPlaces } from './redocly-files.ts'

/**
 * Matches Redocly's boxed notices about the version of Node or a new Redocly, which do not belong in an error message.
 */
const box = /^[ \t]*[╔║╚].*\n?/gm

/**
 * Returns the problem of a document on which @redocly/cli, which follows references recursively, or openapi-typescript,
 * which follows nested schemas so, overflows the stack; undefined for any other error.
 */
export const depthProblem = (error: unknown): string | undefined =>
  String((error as Error).message).includes('Maximum call stack size exceeded')
    ? 'schemas are nested, or refer to one another in a chain, too deeply for @redocly/cli and openapi-typescript; ' +
      'shorten the chain to at most 500 schemas'
    : undefined

/** The rules for correctness: what no tool can read as OpenAPI. The compiler checks operationIds and routes itself. */
export const correctnessRules = joinPaths(import.meta.dirname, 'correctness.yaml')

/** Advice on the style of a document, for those who have no rules of their own. */
export const styleRules = joinPaths(import.meta.dirname, 'style.yaml')

/** A finding of the linter, in the parts of its JSON format that are read. */
export type LintFinding = {
  ruleId: string
  severity: 'error' | 'warn'
  message: string
  location: LintLocation[]
  /** The location that refers to the file of the finding. */
  from?: LintLocation
}

export type LintLocation = {
  source: { ref: string }
  pointer: string
  reportOnKey?: boolean
  start: { line: number; col: number }
}

/**
 * Returns what the linter finds in the document at `path` by the rules of a configuration, by default redocly.yaml.
 * Throws an error with a line for each reference to a URL, which is not fetched.
 */
export async function lint(path: string, rules?: string, given?: Sources): Promise<LintFinding[]> {
  const sources = given ?? (await readSources(path))
  rejectProblems(sources)
  const config = rules === undefined ? [] : [`--config=${rules}`]
  const run = async (local: string): Promise<LintFinding[]> => {
    const { stdout, message } = await runRedocly(
      'lint',
      literalPattern(local),
      '--format=json',
      '--max-problems=10000',
      ...config,
    )
    // A configuration without rules, such as `extends: []`, has no findings.
    if (message?.includes('No rules were configured')) return []
    if (message !== undefined && !stdout.startsWith('{')) throw new Error(message)
    return JSON.parse(stdout).problems
  }
  let isCopied = false
  const findings = await onFiles(sources, (local, isCopy) => {
    isCopied = isCopy
    return run(local)
  })
  return isCopied ? withPlaces(findings, sources) : findings
}

/**
 * Throws an error with a line for each reference to a URL, which Redocly would fetch, and for a version without quotes,
 * for which Redocly names no place.
 */
function rejectProblems({ path, files, problems }: Sources): void {
  const [source] = files.values()
  const { openapi } = Object(source?.value)
  if (typeof openapi === 'number') {
    const place = placeText(path, (source as Source).placeOf(['openapi']))
    throw new SourceError(`${place}: openapi must be a string, not ${openapi}; quote it: '${openapi.toFixed(1)}.0'`)
  }
  if (problems.length > 0) throw new SourceError(problems.map(({ place, text }) => `${place}: ${text}`).join('\n'))
}

/** A finding of the linter about a document in one or several files. */
export type LintProblem = {
  /** The location in the first file: of the finding, or of the reference to its file. */
  pointer: string
  text: string
  /** The file, line and column of the finding. */
  place: string
  rule: string
}

/** Returns what the linter finds in the document at `path` by the rules for correctness. */
export async function lintCorrectness(path: string, sources?: Sources): Promise<LintProblem[]> {
  const isFirst = (location: LintLocation | undefined) => resolve(location?.source.ref ?? '') === resolve(path)
  const findings = await lint(path, correctnessRules, sources)
  return (
    findings
      // The compiler itself warns of `nullable` in OpenAPI 3.1.
      .filter(({ message }) => !message.includes('`nullable` is not expected'))
      .map(({ ruleId: rule, message, location: [at], from }) => {
        const { source, start } = at as LintLocation
        const { pointer = '#' } = [at, from].find(isFirst) ?? {}
        return {
          pointer: join('#', ...keysOf(pointer)),
          text: message.replace(/\s+/g, ' '),
          place: `${source.ref}:${start.line}:${start.col}`,
          rule,
        }
      })
  )
}

/** Bundles the files of a document. A reference without a target, which the linter reports, stays as it is. */
export async function bundle(path: string, rules?: string, given?: Sources): Promise<Document> {
  const sources = given ?? (await readSources(path))
  rejectProblems(sources)
  const document = await bundleFiles(rules, sources)
  const { dynamicMark } = sources
  return dynamicMark === undefined ? document : withoutDynamicReferences(document, dynamicMark)
}

async function bundleFiles(rules: string | undefined, sources: Sources): Promise<Document> {
  const isPlain = rules === undefined ? !configurations.some((name) => existsSync(name)) : rules === correctnessRules
  const whole = isPlain && wholeDocument(sources)
  if (whole) return whole
  const config = rules === undefined ? [] : [`--config=${rules}`]
  return await onFiles(sources, async (local) =>
    JSON.parse(await redocly('bundle', literalPattern(local), '--ext=json', '--force', ...config)),
  )
}

/** The files with decorators, which the bundler applies, and with plugins, which are code. */
export const configurations = ['redocly.yaml', 'redocly.yml', '.redocly.yaml', '.redocly.yml']

/** The first members of a bundled document, in their order. */
const firstMembers =
  'openapi info jsonSchemaDialect servers security tags externalDocs paths webhooks components'.split(' ')

/**
 * Returns a document of one file as the bundler does, which takes a second for a large document; undefined for any other
 * document, and for one with a reference that the bundler replaces.
 */
function wholeDocument({ files, edits, isWhole }: Sources): Document | undefined {
  const [[file = '', source] = []] = files
  if (!isWhole) return undefined
  const given = { components: {}, ...(copyFor(source?.value, edits.get(file) as Edits, undefined) as object) }
  const members = firstMembers.filter((name) => Object.hasOwn(given, name)).concat(Object.keys(given))
  return Object.fromEntries(members.map((name) => [name, given[name as keyof typeof given]])) as Document
}

/**
 * Returns a pattern that matches a path only: Redocly takes a path for a pattern of files, relative to its
 * configuration. A class of one character is no pattern to it, so each class has its character twice.
 */
const literalPattern = (path: string): string =>
  /[*?[(]/.test(path) ? resolve(path).replace(/[*?[\](){}!+@]/g, '[\\$&\\$&]') : path

/** Runs Redocly's command line tool without telemetry and returns its output. Rejects with its messages if it fails. */
export async function redocly(...args: string[]): Promise<string> {
  const { stdout, message } = await runRedocly(...args)
  if (message !== undefined) throw new Error(message)
  return stdout
}

/** Returns the output of Redocly's command line tool, and its messages if it fails. */
async function runRedocly(...args: string[]): Promise<{ stdout: string; message?: string }> {
  // Color codes would end up in error messages.
  const uncolored = { NO_COLOR: '1', FORCE_COLOR: undefined }
  const env = { ...process.env, ...uncolored, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const manifest = createRequire(import.meta.url).resolve('@redocly/cli/package.json')
  const cli = joinPaths(dirname(manifest), 'bin', 'cli.js')
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [cli, ...args], { env, maxBuffer: 2 ** 28 })
    return { stdout }
  } catch (error) {
    const { stdout, stderr, message } = error as Error & { stdout: string; stderr: string }
    const text = stdout.trim() || stderr.replaceAll(box, '').trim() || message
    return { stdout, message: depthProblem({ message: text }) ?? text }
  }
}
