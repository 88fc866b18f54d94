import { join } from '../../document/json-pointer.ts'
import { type Document, operationsIn } from '../../document/openapi-document.ts'
import { isNode, type Node } from '../../document/walk-document.ts'
import { type Advise, warning } from '../../reports/reports.ts'
import { withPlainOperations } from './lenient-operations.ts'
import { targetOf, withDescribedParameters, withRequiredPathParameters } from './lenient-parameters.ts'
import { isSecurityName } from './lenient-security.ts'
import { withPlainServers } from './lenient-servers.ts'

/**
 * Returns a document whose paths, parameters, servers, statuses and security requirements are as OpenAPI requires.
 * Reports each repair once. A repair is made only where the document leaves no doubt about what
 * its author means. What is invalid otherwise stays, for the rules to report. A document without repairs is not copied.
 */
export function lenientPaths(given: Document, report: Advise): Document {
  if (!isNode(given)) return given
  const reported = new Set<string>()
  const advise: Advise = (...advice) => {
    if (reported.size < reported.add(warning(...advice)).size) report(...advice)
  }
  // The other repairs find the operations of the paths.
  const repairs = [withPlainPaths, withPlainServers, withPlainOperations, withRequiredPathParameters]
  let document = given as Document
  for (const repair of repairs) document = repair(document, advise)
  return document
}

function withPlainPaths(document: Document, advise: Advise): Document {
  const { paths } = document as { paths?: unknown }
  if (!isNode(paths)) return document
  let isSame = true
  const taken = new Set(Object.keys(paths))
  const entries: [string, unknown][] = []
  for (const [key, given] of Object.entries(paths)) {
    // Security requirements of all paths are no path, but document-structure.ts rejects them.
    if (/^x-/i.test(key) || isSecurityName(key)) {
      entries.push([key, given])
      continue
    }
    const path = plainPath(document, { paths, taken }, key, advise)
    if (path !== undefined) taken.add(path)
    const item = path === undefined ? undefined : plainItem(document, [key, path], given, advise)
    isSame &&= path === key && item === given
    if (path !== undefined) entries.push([path, item])
  }
  return isSame ? document : { ...document, paths: Object.fromEntries(entries) as Record<string, object> }
}

/** Matches a path without anything that may be the notation of a router. */
const plainPathGrammar = /^(?:[^{}:<%$]|\{[\w.-]+\})*$/

/** Returns the path that a key of the paths stands for; undefined if it stands for none, or for one that is taken. */
function plainPath(
  document: Document,
  { paths, taken }: { paths: Node; taken: ReadonlySet<string> },
  key: string,
  advise: Advise,
): string | undefined {
  const pointer = join('#', 'paths', key)
  const isFree = (path: string) => path === key || !taken.has(path)
  // A client removes the dots from a URL (RFC 3986 section 5.2.4).
  const rooted = key.startsWith('/') ? key : `/${key.trim().replace(/^(?:\.*\/)+/, '')}`
  if (key.trim() === '' || /^[a-z][a-z\d+.-]*:\/\//i.test(key) || !isFree(rooted)) {
    advise('unserved-path', pointer, 'is not a path, so it is not served; begin it with a slash, and give it once')
    return undefined
  }
  const { path, spanning } = plainPathGrammar.test(rooted)
    ? { path: rooted, spanning: [] }
    : withPlainTemplates(rooted, pathParameterNames(document, paths[key]))
  if (path === rooted || !isFree(path)) {
    if (rooted !== key)
      advise('path-notation', pointer, `does not begin with a slash; it is served as ${rooted}; correct it`)
    return rooted
  }
  const encoded = spanning.map((name) => `, and a slash in ${name} must be sent as %2F`).join('')
  advise('path-notation', pointer, `is not a path of OpenAPI; it is served as ${path}${encoded}; correct it`)
  return path
}

/** Returns the names of the path parameters that a path item and its operations describe. */
function pathParameterNames(document: Document, given: unknown): Set<string> {
  const item = Object(targetOf(document, given)) as Node
  const names = new Set<string>()
  for (const { parameters } of [item, ...operationsOf(item).map(({ operation }) => operation)]) {
    for (const given of Array.isArray(parameters) ? parameters : []) {
      const parameter = targetOf(document, given)
      if (parameter?.in === 'path' && typeof parameter.name === 'string') names.add(parameter.name)
    }
  }
  return names
}

/** Matches a parameter in braces, which may hold a regular expression with braces of its own, or in other brackets. */
const notations = /\$?\{(?:[^{}]|\{[^{}]*\})*\}\}?|%7B[\w-]+%7D|(?<=\/):[A-Za-z_]\w*(?=\/|$)|<[\w-]+>/g

/** Matches what is in the braces of a router: a name, and marks or a pattern beside it. */
const routerParameter = /^\s*\{?\s*([*+]*)([\w.-]+)([?*+]*)(?::(.*?))?\s*\}?\s*$/s

/** Patterns of routers that match several segments of a path. */
const spanningPatterns = ['.*', '.+', 'path', '**']

/**
 * Returns a path in which the parameters are in the notation of OpenAPI, and the names of those that several segments
 * were meant for. A parameter that is described under the text in its braces stays as it is.
 */
function withPlainTemplates(given: string, described: ReadonlySet<string>): { path: string; spanning: string[] } {
  const spanning: string[] = []
  // The query of a URI template (RFC 6570 section 3.2.8); OpenAPI describes each of its parameters with in: query.
  const withoutQuery = given.replace(/\{\?[\w.,*-]+\}$/, (query) => (described.has(query.slice(1, -1)) ? query : ''))
  return { path: withoutQuery.replace(notations, templateOf), spanning }

  function templateOf(notation: string): string {
    const [open = '', inner = ''] = /^(\$?\{|%7B|:|<)(.*?)(?:\}|%7D|>)?$/s.exec(notation)?.slice(1) ?? []
    if (described.has(inner)) return `{${inner}}`
    const [, before = '', name = '', after = '', pattern = ''] = routerParameter.exec(inner) ?? []
    // Without braces, the text may be a literal part of the path.
    if (name === '' || name === inner || (open !== '{' && !described.has(name))) return notation
    if (/[*+]/.test(before + after) || spanningPatterns.includes(pattern)) spanning.push(name)
    return `{${name}}`
  }
}

/** Returns a path item whose parameters are those of its path. */
function plainItem(document: Document, [key, path]: [string, string], given: unknown, advise: Advise): unknown {
  const target = targetOf(document, given)
  if (target === undefined) return given
  const pointer = join('#', 'paths', key)
  const { $ref: _, ...own } = given as Node
  const item = target === given ? target : { ...target, ...own }
  const described = withDescribedParameters(document, path, item, operationsOf(item), { pointer, advise })
  return described === item ? given : described
}

/** Returns the operations of a path item whose structure is valid so far, with the keys that lead to each. */
function operationsOf(item: Node): { keys: string[]; operation: Node }[] {
  const found: { keys: string[]; operation: Node }[] = []
  for (const { keys } of operationsIn(item)) {
    let operation: unknown = item
    for (const key of keys) operation = Object(operation)[key]
    if (isNode(operation)) found.push({ keys, operation })
  }
  return found
}
