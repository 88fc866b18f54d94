import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join as joinPaths, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { Worker } from 'node:worker_threads'
import { stringifyJson } from 'fastify-contract/json'
import { keysOf } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import type { Node } from '../document/walk-document.ts'
import { withoutDynamicReferences } from '../passes/dynamic-references.ts'
import { type Bundle, bundleSources } from '../read/bundle-sources.ts'
import { isFile, shownName } from '../read/file-text.ts'
import { readDocument } from '../read/read-document.ts'
import { parseSource, type Source } from '../read/read-source.ts'
import { withOwnNames } from '../read/schema-names.ts'
import { SourceError } from '../read/source-error.ts'
import type { Sources } from '../read/source-files.ts'
import { isSame, onDocument, onFiles, withDigits, withPlaces } from './redocly-files.ts'

/**
 * Matches Redocly's boxed notices about the version of Node or a new Redocly, which do not belong in an error message.
 */
const box = /^[ \t]*[╔║╚].*\n?/gm

/** The message of the error that V8 throws when recursion exceeds the stack. */
const overflow = 'Maximum call stack size exceeded'

/**
 * Returns the problem of a document on which openapi-typescript, which follows nested schemas recursively, overflows the
 * stack; undefined for any other error.
 */
export const depthProblem = (error: unknown): string | undefined =>
  String((error as Error).message).includes(overflow)
    ? 'schemas are nested too deeply for openapi-typescript; move inner schemas into components, so that at most 500 ' +
      'are nested'
    : undefined

/**
 * Returns the problem of a document that exceeds a limit of @redocly/cli: its parser counts levels, and its walk follows
 * each reference recursively. Returns undefined for any other message.
 */
function limitProblem(message: string): string | undefined {
  const [, levels] = /nesting exceeded maxDepth \((\d+)\)/.exec(message) ?? []
  if (levels !== undefined)
    return `its values are nested more than ${levels} levels deep, which @redocly/cli does not read; move inner schemas into components`
  return message.includes(overflow)
    ? 'its schemas refer to one another in a chain that is too long for @redocly/cli; shorten it to at most 5,000 schemas'
    : undefined
}

/** Advice on the style of a document, for those who have no rules of their own. */
export const styleRules = joinPaths(import.meta.dirname, '..', 'redocly', 'style.yaml')

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
 * Returns what the linter finds in the document at `path` by the rules of a configuration, by default redocly.yaml, and
 * each reference that Redocly must not follow.
 */
export async function lint(path: string, rules?: string, given?: Sources): Promise<LintFinding[]> {
  const sources = given ?? (await readDocument(path))
  const config = rules === undefined ? [] : [`--config=${rules}`]
  const run = async (local: string): Promise<LintFinding[]> => {
    const { stdout, message } = await runRedocly([
      'lint',
      literalPattern(local),
      '--format=json',
      '--max-problems=10000',
      ...config,
    ])
    // A configuration without rules, such as `extends: []`, has no findings.
    if (message?.includes('No rules were configured')) return []
    if (message !== undefined && !stdout.startsWith('{'))
      throw new Error(`${shownName(resolve(sources.path))}: @redocly/cli cannot lint it:\n${message}`)
    return JSON.parse(stdout).problems
  }
  let isCopied = false
  const findings = await onFiles(sources, function runLinter(local, isCopy) {
    isCopied = isCopy
    return run(local)
  })
  return [...ownFindings(sources), ...(isCopied ? withPlaces(findings, sources) : findings).map(withShownNames)]
}

/** Returns a finding with the names of its files in messages. */
function withShownNames(finding: LintFinding): LintFinding {
  const named = (at: LintLocation) => ({ ...at, source: { ref: shownName(resolve(at.source.ref)) } })
  return { ...finding, location: finding.location.map(named) }
}

/** Returns what Redocly does not see: the references that it must not follow, and a version that is no string. */
function ownFindings({ files, problems }: Sources): LintFinding[] {
  const [[root = '', source] = []] = files
  const finding = (ruleId: string, file: string, pointer: string, message: string): LintFinding => {
    const { name: ref = shownName(file), ...start } = (files.get(file) as Source).placeOf(keysOf(pointer))
    return { ruleId, severity: 'error', message, location: [{ source: { ref }, pointer, start }] }
  }
  const { openapi } = Object(source?.value)
  const quoted = typeof openapi === 'number' ? `; quote it: '${openapi.toFixed(1)}.0'` : ''
  return [
    ...(openapi === undefined || typeof openapi === 'string'
      ? []
      : [finding('struct', root, '#/openapi', `openapi must be a string, not ${stringifyJson(openapi)}${quoted}`)]),
    ...[...problems.values()]
      .filter(({ isHidden }) => isHidden)
      .map(({ file, pointer, text }) => finding('no-unresolved-refs', file, pointer, text)),
  ]
}

/** For bundling without the configuration of the directory, which may have decorators and plugins. */
export const noConfiguration = ''

/**
 * Bundles the files of a document, and applies the decorators of a configuration, by default redocly.yaml. A reference
 * without a target stays as it is.
 */
export async function bundle(path: string, rules?: string, given?: Sources): Promise<Document> {
  const sources = given ?? (await readDocument(path))
  return (await bundleWith(sources, rules)).document
}

/**
 * Bundles files, and applies the decorators of a configuration. The values of discriminators are the names that schemas
 * have in their own files; there is a warning for each value that stands for several schemas.
 */
export async function bundleWith(
  sources: Sources,
  rules: string | undefined,
): Promise<Omit<Bundle, 'renamed'> & { warnings: string[] }> {
  const { renamed, ...bundled } = bundleSources(sources)
  const named = withOwnNames(bundled.document, renamed)
  const name = rules ?? configurations.find((each) => existsSync(each))
  const { dynamicMark } = sources
  const resolved = dynamicMark === undefined ? named.document : withoutDynamicReferences(named.document, dynamicMark)
  const document = name ? await decorated(resolved, sources, name) : resolved
  return { ...bundled, document, warnings: named.warnings }
}

/** Returns a bundled document with the decorators of a configuration. */
async function decorated(document: Document, sources: Sources, name: string): Promise<Document> {
  const configuration = configurationIn(name)
  if (!configuration.isDecorating) return document
  const run = async (path: string) => {
    const { stdout, message } = await runRedocly([
      'bundle',
      literalPattern(path),
      '--ext=json',
      '--force',
      `--config=${name}`,
    ])
    if (message === undefined) return JSON.parse(stdout)
    throw new SourceError(
      `${shownName(resolve(sources.path))}: @redocly/cli cannot bundle it with ${name}; correct one of them:\n${message}`,
    )
  }
  const isNamed = configuration.roots.some((root) => resolve(root) === resolve(sources.path))
  // The configuration may have decorators for a document by its path.
  return isNamed && isSame(sources) && !sources.isTranslated
    ? withDigits(await run(sources.path), document)
    : await onDocument(document, run)
}

/** The collections of rules that Redocly has itself, which have no decorators. */
const collections = /^(?:all|minimal|spec|recommended(?:-strict)?|diff-recommended)$/

/** Returns whether a configuration changes documents, and the documents that have decorators of their own. */
function configurationIn(name: string): { isDecorating: boolean; roots: string[] } {
  if (!isFile(name)) throw new SourceError(`${name} does not exist; name a configuration of Redocly`)
  // Redocly reports a configuration that it cannot read.
  const { value } = parseSource(name, readFileSync(name, 'utf8'), name)
  const parts = [value, ...Object.values(Object(Object(value).apis))].map((part) => Object(part) as Node)
  const decorating = parts.filter(isDecorating)
  const roots = decorating.flatMap(({ root }) => (typeof root === 'string' ? [root] : []))
  return { isDecorating: decorating.length > 0, roots }
}

/** Returns whether a part of a configuration may have decorators. */
const isDecorating = (part: Node): boolean =>
  Object.entries(part).some(
    ([key, held]) =>
      /(?:decorators|preprocessors|plugins)$/i.test(key) ||
      (key === 'extends' && [held].flat().some((each) => !collections.test(String(each)))),
  )

/** The files with decorators, which the bundler applies, and with plugins, which are code. */
export const configurations = ['redocly.yaml', 'redocly.yml', '.redocly.yaml', '.redocly.yml']

/**
 * Returns a pattern that matches a path only: Redocly takes a path for a pattern of files, relative to its
 * configuration. A class of one character is no pattern to it, so each class has its character twice.
 */
const literalPattern = (path: string): string =>
  /[*?[(]/.test(path) ? resolve(path).replace(/[*?[\](){}!+@]/g, '[\\$&\\$&]') : path

/**
 * Runs Redocly's command line tool without telemetry and returns its output. Rejects with its messages if it fails.
 * Redocly reads the configuration in the current directory unless `args` name one.
 */
export async function redocly(args: string[]): Promise<string> {
  const { stdout, message } = await runRedocly(args)
  if (message !== undefined) throw new Error(message)
  return stdout
}

/** The stack of the thread of Redocly in MiB, which the operating system reserves and grants as far as it is used. */
const stackSize = 64

/**
 * Returns the output of Redocly's command line tool, and its messages if it fails. The package has no interface but this
 * program. It runs in a thread, which process.exit() of the program or of a plugin ends without this process, and whose
 * stack is larger than that of a process: Redocly follows references recursively.
 */
async function runRedocly(args: string[]): Promise<{ stdout: string; message?: string }> {
  const env = { ...process.env, NO_COLOR: '1', REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  // Color codes would end up in error messages. A thread would get the text "undefined".
  delete (env as NodeJS.ProcessEnv).FORCE_COLOR
  const manifest = createRequire(import.meta.url).resolve('@redocly/cli/package.json')
  const worker = new Worker(joinPaths(dirname(manifest), 'bin', 'cli.js'), {
    argv: args,
    env,
    // Options of this process, such as a loader of TypeScript, are none of Redocly's.
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { stackSizeMb: stackSize },
  })
  const failure = (error: Error) => [error]
  const [stdout, stderr, [end]] = await Promise.all([
    text(worker.stdout),
    text(worker.stderr),
    once(worker, 'exit').catch(failure),
  ])
  if (end === 0) return { stdout }
  const message = stdout.trim() || stderr.replaceAll(box, '').trim() || `@redocly/cli ended with ${end}`
  return { stdout, message: limitProblem(message) ?? message }
}
