import { dirname, resolve } from 'node:path'
import { stringifyJson } from 'fastify-contract/json'
import { type FileStates, stateOf } from '../../digests/file-state.ts'
import { isNode, type Node } from '../../document/walk-document.ts'
import { isUrl } from '../../fetch/url-rules.ts'
import { decodedText, isFile, readBytes, shownName } from '../file-text.ts'
import { syntaxProblem } from '../json-path.ts'
import { parseSource, type Source } from '../read-source.ts'
import { LimitError, OverlayError, placeText } from '../source-error.ts'

/** The limits of the overlays of a document, which count all of them. `values` are those that they add to a file. */
export const overlayLimits = {
  files: 100,
  bytes: 8 * 2 ** 20,
  actions: 10_000,
  values: 1_000_000,
  milliseconds: 10_000,
}

/** An overlay (https://spec.openapis.org/overlay/v1.1.0.html) whose form is checked. */
export type Overlay = {
  source: Source
  /** The file that it extends: an absolute path or a URL; undefined for the document. */
  extended: string | undefined
  actions: Action[]
}

/** An action of an overlay. `remove` counts more than the others. */
export type Action = { target: string; remove?: boolean; copy?: string; update?: unknown }

/**
 * Reads overlays, which are files, and adds their states to `states`. Throws a SourceError for one that is not as the
 * specification has it, or that exceeds a limit.
 */
export async function readOverlays(paths: string[], states: FileStates): Promise<Overlay[]> {
  if (paths.length > overlayLimits.files)
    throw new LimitError(`${paths.length} overlays are more than ${overlayLimits.files}; merge some of them`)
  let [bytesLeft, actionsLeft] = [overlayLimits.bytes, overlayLimits.actions]
  const overlays: Overlay[] = []
  for (const path of paths) {
    const bytes = await bytesOf(path, bytesLeft)
    bytesLeft -= bytes.length
    states.set(resolve(path), stateOf(bytes))
    const text = decodedText(bytes)
    if (text === undefined) throw new OverlayError(`${path}: is not text in UTF-8; convert it`)
    const overlay = checkedOverlay(parseSource(resolve(path), text, shownName(resolve(path))))
    actionsLeft -= overlay.actions.length
    if (actionsLeft < 0)
      throw new LimitError(`${path}: the overlays have more than ${overlayLimits.actions} actions; write fewer`)
    overlays.push(overlay)
  }
  return overlays
}

async function bytesOf(path: string, limit: number): Promise<Uint8Array> {
  if (isUrl(path)) throw new OverlayError(`${path}: an overlay is a file, and not fetched; download it`)
  if (!isFile(resolve(path))) throw new OverlayError(`${path} does not exist; name an overlay, a file`)
  return await readBytes(resolve(path), limit, 'the overlays have')
}

/** Returns an overlay. Throws an OverlayError that names the place of what the specification does not have. */
function checkedOverlay(source: Source): Overlay {
  const name = shownName(source.file)
  const { value } = source
  if (!isNode(value)) throw new OverlayError(`${name}: is no object of JSON or YAML; write an overlay`)
  const fail: Fail = (keys, text, onKey = false) => {
    throw new OverlayError(`${placeText(name, source.placeOf(keys, onKey))}: ${text}`)
  }
  const version = checkedVersion(value.overlay, fail)
  rejectUnknown(value, [], ['overlay', 'info', 'extends', 'actions'], fail)
  const info = isNode(value.info) ? value.info : fail(['info'], 'info is no object; write one with title and version')
  rejectUnknown(info, ['info'], ['title', 'version', 'description'], fail)
  for (const member of ['title', 'version']) {
    if (typeof info[member] !== 'string')
      fail(['info', member], `info has no text as ${member}; ${Object.hasOwn(info, member) ? 'quote it' : 'add it'}`)
  }
  rejectOther(info, ['info'], { description: 'string' }, fail)
  rejectOther(value, [], { extends: 'string' }, fail)
  const { actions } = value
  if (!Array.isArray(actions) || actions.length === 0)
    return fail(['actions'], 'actions is no list of at least one action')
  actions.forEach((action, index) => {
    checkAction(action, ['actions', String(index)], version, fail)
  })
  rejectRepeated(actions, fail)
  const extended = typeof value.extends === 'string' ? extendedBy(value.extends, source, fail) : undefined
  return { source, extended, actions }
}

/** Throws an OverlayError with the place of the value at some keys, or of its key. */
type Fail = (keys: string[], text: string, onKey?: boolean) => never

/** Returns the minor version. A patch version has no meaning (section "Versions"). */
function checkedVersion(version: unknown, fail: Fail): number {
  if (version === undefined)
    return fail([], 'overlay, the version of the specification, is missing; add overlay: 1.1.0')
  if (typeof version !== 'string')
    return fail(['overlay'], `overlay is ${stringifyJson(version)}, which is no text; write overlay: 1.1.0`)
  const [, minor] = /^1\.([01])\.\d+$/.exec(version) ?? []
  if (minor === undefined)
    return fail(['overlay'], `the version ${JSON.stringify(version)} is not supported; use 1.0.0 or 1.1.0`)
  return Number(minor)
}

function checkAction(action: unknown, keys: string[], version: number, fail: Fail): void {
  if (!isNode(action)) fail(keys, 'the action is no object; write one with target')
  rejectUnknown(action, keys, ['target', 'description', 'update', 'copy', 'remove'], fail)
  if (typeof action.target !== 'string')
    fail([...keys, 'target'], 'the action has no text as target; write a JSONPath, such as $.info')
  rejectOther(action, keys, { description: 'string', copy: 'string', remove: 'boolean' }, fail)
  for (const field of ['target', 'copy']) {
    const query = action[field]
    const problem = typeof query === 'string' ? syntaxProblem(query) : undefined
    if (problem !== undefined)
      fail([...keys, field], `${field} ${query} is no JSONPath of RFC 9535 (${problem}); correct it`)
  }
  if (action.copy !== undefined && version < 1)
    fail([...keys, 'copy'], 'copy is no field of version 1.0; write overlay: 1.1.0', true)
  if (action.copy !== undefined && Object.hasOwn(action, 'update') && action.remove !== true)
    fail([...keys, 'copy'], 'copy and update exclude each other; make two actions of them', true)
}

/** Rejects the members of an object that are neither known nor extensions. */
function rejectUnknown(node: Node, keys: string[], known: string[], fail: Fail): void {
  for (const name of Object.keys(node)) {
    if (known.includes(name) || name.startsWith('x-')) continue
    fail([...keys, name], `unknown member ${JSON.stringify(name)}; expected ${known.join(', ')} or x-…`, true)
  }
}

/** Rejects members with another type. */
function rejectOther(node: Node, keys: string[], types: Record<string, string>, fail: Fail): void {
  for (const [name, type] of Object.entries(types)) {
    if (!Object.hasOwn(node, name) || typeof node[name] === type) continue
    fail([...keys, name], `${name} is ${stringifyJson(node[name])}, which is no ${type}; write a ${type}`)
  }
}

/** Rejects an action that equals an earlier one, as the schema of the specification does. */
function rejectRepeated(actions: unknown[], fail: Fail): void {
  const seen = new Map<string, number>()
  for (const [index, action] of actions.entries()) {
    const text = String(stringifyJson(action))
    const first = seen.get(text)
    if (first !== undefined)
      fail(['actions', String(index)], `the action equals the one with number ${first + 1}; remove one of them`)
    seen.set(text, index)
  }
}

/** Returns the absolute path or the URL of the file that an overlay extends: a reference relative to the overlay. */
function extendedBy(text: string, { file }: Source, fail: Fail): string {
  if (isUrl(text)) return text
  if (/^[a-z][a-z\d+.-]+:/i.test(text) || text.startsWith('//'))
    return fail(['extends'], `extends is ${JSON.stringify(text)}; write a relative path or an https URL`)
  try {
    return resolve(dirname(file), decodeURIComponent(text.replace(/[?#].*$/, '')))
  } catch {
    return fail(['extends'], `extends is ${JSON.stringify(text)}, which has a wrong percent-encoding; correct it`)
  }
}
