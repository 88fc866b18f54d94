import { join } from '../../document/json-pointer.ts'
import { type Document, type Server, withDefaults } from '../../document/openapi-document.ts'
import {
  isNode,
  type Kind,
  mapDocument,
  mapEntries,
  type Node,
  walkObjects,
  withoutKeys,
} from '../../document/walk-document.ts'
import type { Advise, Advised } from '../../reports/reports.ts'

const holders: Kind[] = ['document', 'pathItem', 'operation']

/** How a repair reports what it assumes about a server. */
type AdviseServer = (kind: Advised, text: string) => void

/**
 * Returns a document whose servers have a URL with a certain path, as far as their authors leave no doubt. A service
 * needs only the path of a server: its operator chooses the scheme and the host.
 */
export function withPlainServers(document: Document, advise: Advise): Document {
  let isSame = true
  walkObjects(document, function adviseHolder(node, kind, pointer) {
    if (holders.includes(kind))
      isSame = plainHolder(node, (kind, at, text) => advise(kind, `${pointer()}/${at}`, text)) === node && isSame
  })
  if (isSame) return document
  const transform = (node: Node) => plainHolder(node, () => {})
  return mapDocument(document, { document: transform, pathItem: transform, operation: transform })
}

/** Returns an object whose servers are repaired, or are left out if they are no list. */
function plainHolder(node: Node, advise: Advise): Node {
  const { servers } = node
  if (servers === undefined) return node
  if (isNode(servers) || typeof servers === 'string')
    advise('convertible-type', 'servers', 'is read as an array with one server; write it as one')
  else if (!Array.isArray(servers)) {
    advise('ignored-server', 'servers', 'is not an array, so it is ignored; correct it')
    return withoutKeys(node, ['servers'])
  }
  const given = [servers].flat()
  const read: { server: Server; at: string; undescribed: string | undefined }[] = []
  for (const [index, one] of given.entries()) {
    const at = join('servers', String(index))
    const server = plainServer(one, (kind, text) => advise(kind, at, text))
    if (server !== undefined) read.push({ server, at, undescribed: undescribedIn(pathOf(server.url), server)[0] })
  }
  const isOneCertain = read.some(({ undescribed }) => undescribed === undefined)
  const kept: Server[] = []
  for (const { server, at, undescribed: name } of read) {
    if (name === undefined || !isOneCertain) kept.push(server)
    else
      advise(
        'ignored-server',
        at,
        `${server.url} has the undescribed variable ${name} in its path, so it is ignored; describe ${name} in variables`,
      )
  }
  if (kept.length === given.length && kept.every((server, index) => server === given[index])) {
    return Array.isArray(servers) ? node : { ...node, servers: kept }
  }
  return kept.length === 0 ? withoutKeys(node, ['servers']) : { ...node, servers: kept }
}

/** Returns a server with a plain URL and with texts as the values of its variables; undefined for one without a URL. */
function plainServer(given: unknown, advise: AdviseServer): Server | undefined {
  if (typeof given === 'string') {
    advise('convertible-type', `must be an object; ${given} is read as its url; correct it`)
    return plainServer({ url: given }, advise)
  }
  if (!isNode(given) || typeof given.url !== 'string') {
    advise('ignored-server', 'has no url, so it is ignored; add one')
    return undefined
  }
  const server = withPlainVariables(given, advise) as Server
  const url = plainUrl(server, advise)
  return url === server.url ? server : { ...server, url }
}

function withPlainVariables(server: Node, advise: AdviseServer): Node {
  const { variables } = server
  if (variables === undefined) return server
  if (!isNode(variables)) {
    advise('server-variable', 'its variables are not an object, so they are ignored; correct them')
    return withoutKeys(server, ['variables'])
  }
  const plain = mapEntries(variables, (given, name) =>
    plainVariable(Object(given) as Node, (kind, text) => advise(kind, `variable ${name}: ${text}`)),
  )
  const missing = Object.keys(plain).filter((name) => plain[name] === undefined)
  return plain === variables ? server : { ...server, variables: withoutKeys(plain, missing) }
}

/** Returns a variable with a default that is one of its values; undefined if it has neither. */
function plainVariable(given: Node, advise: AdviseServer): Node | undefined {
  let variable = given
  const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)
  const { default: value, enum: values } = variable
  if (typeof value !== 'string' && isScalar(value)) {
    advise('server-variable', `its default is not a string; it is read as "${value}"; quote it`)
    variable = { ...variable, default: String(value) }
  }
  if (values !== undefined && (!Array.isArray(values) || values.length === 0 || !values.every(isScalar))) {
    const what = Array.isArray(values) && values.length === 0 ? 'is empty' : 'is not a list of strings'
    advise('server-variable', `its enum ${what}, so it is ignored; remove it`)
    variable = withoutKeys(variable, ['enum'])
  } else if (Array.isArray(values) && values.some((one) => typeof one !== 'string')) {
    advise('server-variable', 'a value of its enum is not a string; it is read as one; quote it')
    variable = { ...variable, enum: values.map(String) }
  }
  const listed = variable.enum as string[] | undefined
  if (typeof variable.default !== 'string') {
    const [first] = listed ?? []
    const assumed =
      first === undefined ? 'so it is ignored; add one' : `its first value ${first} is the default; add it`
    advise('server-variable', first === undefined ? `has no default, ${assumed}` : `has no default; ${assumed}`)
    return first === undefined ? undefined : { ...variable, default: first }
  }
  if (listed === undefined || listed.includes(variable.default)) return variable
  advise('server-variable', `its default ${variable.default} is not in its enum; both are served; add it to the enum`)
  return { ...variable, enum: [...listed, variable.default] }
}

/** Matches a host without a scheme (RFC 3986 section 3.2), in which a part may be a variable. */
const host =
  /^(?:localhost|\d+(?:\.\d+){3}|(?:(?:[\w-]|\{[^{}]*\})+\.)+(?:[a-z]{2,}|\{[^{}]*\})|(?:[\w.-]|\{[^{}]*\})+(?=:))(?::(?:\d+|\{[^{}]*\}))?$/i

/** Matches the scheme and the host of a URL, which may contain variables. */
const origin = /^(?:[^/]*:)?\/\/[^/]*/

function plainUrl(server: Server, advise: AdviseServer): string {
  let { url } = server
  const change = (next: string, text: string) => {
    if (next === url) return
    advise('server-url', text)
    url = next
  }
  change(url.trim(), `${url} has spaces around it; they are ignored; remove them`)
  change(
    url.replace(/\{\{([^{}]*)\}\}/g, '{$1}'),
    `${url} is read as ${url.replace(/\{\{([^{}]*)\}\}/g, '{$1}')}; write a variable in single braces`,
  )
  const [more = ''] = /[?#].*$/s.exec(url) ?? []
  change(url.slice(0, url.length - more.length), `a server has no query and no fragment; ${more} is ignored; remove it`)
  const rooted = `/${url.replace(/^(?:\.{1,2}(?:\/|$))+/, '')}`
  if (
    /^\.{1,2}(?:\/|$)/.test(url) ||
    (/^v?\d+(?:\.\d+)+(?:\/|$)/.test(withDefaults(server)) && !host.test(firstSegment(url)))
  )
    change(rooted, `${url} is relative; it is served as ${rooted}`)
  if (host.test(firstSegment(withDefaults({ ...server, url }))))
    change(`//${url}`, `${url} has no scheme; it is read as the host and the path //${url}; add https://`)
  const [first] = undescribedIn(url.replace(/\/.*$/s, ''), server)
  if (first !== undefined && url.startsWith(`{${first}}`)) {
    change(
      `//${url}`,
      `${first} is no variable of the server; it is read as the scheme and the host, which have no effect; describe it in variables`,
    )
    return url
  }
  const names = undescribedIn(url.slice(0, url.length - pathOf(url).length), server)
  for (const name of names) {
    advise(
      'server-url',
      `${name} is no variable of the server; a service needs the path only, so it has no effect; describe it in variables`,
    )
  }
  const filled = withDefaults({ ...server, url }).replace(/\{([^{}]*)\}/g, 'x')
  if (!URL.canParse(filled, 'http://127.0.0.1'))
    advise('server-url', `${url} is not a URL; a service needs the path only, so the host has no effect; correct it`)
  return url
}

const firstSegment = (url: string): string => url.replace(/\/.*$/s, '')

const pathOf = (url: string): string => url.replace(origin, '')

/** Returns the names of the variables in a text that a server does not describe. */
const undescribedIn = (text: string, { variables = {} }: Server): string[] =>
  Array.from(text.matchAll(/\{([^{}]*)\}/g), ([, name = '']) => name).filter((name) => !Object.hasOwn(variables, name))
