import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Contract } from '../contract/routes.ts'
import { browserUrl } from './loopback.ts'

/** What the admin server shows of a document that the service serves. */
export type AdminApi = {
  /** The prefix of its pages; empty if it is the only document. */
  prefix: string
  contract: Contract
  /** The path of the documentation page, which may be missing. */
  docs: string
  /** What precedes the paths of the document in the service. */
  added: string
}

export type AdminOptions = {
  apis: AdminApi[]
  /** Resolves with the metrics in the Prometheus text format. */
  metrics(): Promise<string>
  /** Returns why the service is not ready; undefined if it is. */
  unreadyReason(): string | undefined
  /** Called with the readiness at each readiness probe and each scrape of the metrics. */
  onReady(good: boolean): void
  /** Returns the URL of the service, or undefined before it listens. */
  serviceUrl(): string | undefined
}

/** A response of the admin server; default: status 200 and plain text. */
export type AdminResponse = {
  status?: number
  headers?: Record<string, string>
  body: string | Buffer
}

/** @param isLocal Whether only this machine can reach the pages. */
type Page = (isLocal: boolean) => AdminResponse | Promise<AdminResponse>

const processPaths = {
  '/livez': 'whether the process is alive',
  '/readyz': 'whether the service is ready, and why not',
  '/metrics': 'metrics in the Prometheus text format',
}

const documentPaths = {
  '/docs': 'the documentation of the service',
  '/history.html': 'the changes of each version of the OpenAPI document',
  '/try.html': 'a form for each operation, which sends requests to the service',
  '/openapi.json': 'the OpenAPI document',
}

/** Returns a line for each path, with a common column for what it has. */
function pathLines(paths: Record<string, string>): string {
  const width = Math.max(...Object.keys(paths).map((path) => path.length)) + 2
  return Object.entries(paths)
    .map(([path, text]) => `${path.padEnd(width)}${text}\n`)
    .join('')
}

const titleOf = ({ contract }: AdminApi): string => `${contract.routes.info.title} ${contract.routes.info.version}`

/** Returns the list of the paths of the admin server. */
function pathList(apis: AdminApi[]): string {
  const [only] = apis as [AdminApi]
  if (only.prefix === '') return `${titleOf(only)}\n\n${pathLines({ ...processPaths, ...documentPaths })}`
  const common = pathLines({ ...processPaths, '/docs': 'the documentation of each API' })
  const lists = apis.map(function listOf(api) {
    const paths = Object.entries(documentPaths).map(([path, text]) => [api.prefix + path, text])
    return `\n${titleOf(api)}\n\n${pathLines(Object.fromEntries(paths))}`
  })
  return `${common}${lists.join('')}`
}

/** Returns the page that links the documentation of each API. Its addresses are relative, as behind a tunnel or a proxy. */
function indexPage(apis: AdminApi[]): AdminResponse {
  const items = apis.map((api) => {
    const title = titleOf(api).replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
    return `<li><a href=".${api.prefix}/docs">${api.prefix}</a> ${title}</li>`
  })
  const head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>APIs</title>'
  const policy = { 'content-security-policy': "default-src 'none'; frame-ancestors 'none'" }
  return {
    headers: { 'content-type': html, ...policy },
    body: `<!doctype html>\n<html lang="en"><head>${head}</head><body><h1>APIs</h1><ul>${items.join('')}</ul></body></html>\n`,
  }
}

const html = 'text/html; charset=utf-8'

/**
 * Returns what the documentation page needs to show the forms of try.html, and the address of the service in its samples:
 * a link with the address, from which its script adds one to each operation, and the permission to frame the forms.
 * Published docs have neither, since there is no service beside them.
 */
const formsAdded = (serviceUrl: string | undefined, added: string): Edit[] => {
  const address = serviceUrl === undefined ? '' : ` data-service="${browserUrl(serviceUrl)}${added}"`
  return [
    ['<!-- try.html -->', `<a href="try.html"${address}>Try an operation</a>`],
    ["frame-src 'none'", "frame-src 'self'"],
  ]
}

/** The response to try.html on other than loopback addresses, whose origins the service does not allow. */
const localOnlyResponse: AdminResponse = {
  status: 404,
  body:
    'this page needs a loopback MANAGEMENT_HOST such as 127.0.0.1; from another machine use a tunnel to both ports: ' +
    'ssh -L 3000:127.0.0.1:3000 -L 3001:127.0.0.1:3001 HOST\n',
}

/** Returns the pages of the admin server, by path. */
export function adminPages(options: AdminOptions): Map<string, Page> {
  const { apis, serviceUrl } = options
  const pages: Record<string, Page> = { '/': () => ({ body: pathList(apis) }), ...processPages(options) }
  if (apis.some(({ prefix }) => prefix !== '')) pages['/docs'] = () => indexPage(apis)
  for (const api of apis)
    for (const [path, page] of Object.entries(documentPages(api, serviceUrl))) pages[api.prefix + path] = page
  return new Map(Object.entries(pages))
}

/** Returns the probes and the metrics of the process. */
function processPages({ metrics, unreadyReason, onReady }: AdminOptions): Record<string, Page> {
  function checkReadiness(): string | undefined {
    const reason = unreadyReason()
    onReady(reason === undefined)
    return reason
  }
  /** The scrape in progress, which concurrent requests share. */
  let scrape: Promise<string> | undefined
  return {
    '/livez': () => ({ body: 'alive\n' }),
    '/readyz'() {
      const reason = checkReadiness()
      return reason === undefined ? { body: 'ready\n' } : { status: 503, body: `${reason}\n` }
    },
    async '/metrics'() {
      // The readiness metric is measured at the scrape, so that it does not depend on probes.
      checkReadiness()
      scrape ??= metrics().finally(() => {
        scrape = undefined
      })
      return { headers: { 'content-type': prometheus }, body: await scrape }
    },
  }
}

/** Returns the pages of a document, by their paths below its prefix. */
function documentPages(
  { contract, docs, added }: AdminApi,
  serviceUrl: () => string | undefined,
): Record<string, Page> {
  const readDocs = pageReader(docs)
  const readHistory = pageReader(join(dirname(docs), 'history.html'))
  const readTry = pageReader(join(dirname(docs), 'try.html'), 'npx fastify-contract dev')
  const docsPage: Page = (isLocal) => readDocs(isLocal ? formsAdded(serviceUrl(), added) : [])
  const openApi = { headers: { 'content-type': 'application/json' }, body: Buffer.from(contract.documentText) }
  return {
    '/docs': docsPage,
    // The documentation page and its history link to each other under their file names.
    '/index.html': docsPage,
    '/history.html': () => readHistory([]),
    '/try.html': (isLocal) => (isLocal ? tryPage(readTry, serviceUrl(), added) : localOnlyResponse),
    '/openapi.json': () => openApi,
  }
}

const prometheus = 'text/plain; version=0.0.4; charset=utf-8'

/** The directive that works only in a header. The rest of the policy is in the page, with the hash of its script. */
const policyOf = (ancestors: "'none'" | "'self'") => ({ 'content-security-policy': `frame-ancestors ${ancestors}` })

/**
 * The placeholders for the URL of the service in try.html: in its Content-Security-Policy, where a path would allow that
 * path only, and for its script.
 */
const originMarker = /(?<=connect-src )SERVICE_URL/g
const urlMarker = /(?<=data-service=")SERVICE_URL/g

async function tryPage(read: ReadPage, serviceUrl: string | undefined, added: string): Promise<AdminResponse> {
  if (serviceUrl === undefined) return { status: 503, body: 'the service is not listening yet; try again later\n' }
  const origin = browserUrl(serviceUrl)
  const page = await read([
    [originMarker, origin],
    [urlMarker, origin + added],
  ])
  return { ...page, headers: { ...page.headers, ...policyOf("'self'") } }
}

type Edit = [from: string | RegExp, to: string]

/** Resolves with a page in which each pattern is replaced by its text. */
type ReadPage = (edits: Edit[]) => Promise<AdminResponse>

/**
 * Returns a function that reads a page of HTML. Concurrent and later requests share its bytes, until the file or the
 * edits change: with bytes of its own, each request for a page of megabytes would delay the probes.
 */
function pageReader(path: string, command = 'npx fastify-contract docs'): ReadPage {
  let kept: { state: string; body: Promise<Buffer | undefined> } | undefined
  const read = async (edits: Edit[]) => {
    const bytes = await readFile(path)
    return edits.length === 0 ? bytes : Buffer.from(edits.reduce((text, edit) => text.replace(...edit), String(bytes)))
  }
  return async function readPage(edits) {
    const file = await stat(path).catch(() => undefined)
    const state = [file?.ino, file?.size, file?.mtimeMs, file?.ctimeMs, ...edits.flat()].join(' ')
    if (kept?.state !== state) kept = { state, body: read(edits).catch(() => undefined) }
    const body = await kept.body
    if (body === undefined) return { status: 404, body: `the page has not been built; run ${command}\n` }
    return { headers: { 'content-type': html, ...policyOf("'none'") }, body }
  }
}
