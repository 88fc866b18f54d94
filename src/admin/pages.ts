import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Contract } from '../openapi/load-contract.ts'
import { readiness } from './readiness.ts'

export type ManagementOptions = {
  contract: Contract
  /** Path of the docs page; it may be missing. */
  docs: string
  /** Returns the metrics in Prometheus' text format. */
  metrics(): Promise<string>
  /** Resolves when the service can do its work, rejects with the reason when it cannot. */
  ready(): Promise<void>
  /** Called with the result of each readiness probe and each scrape of the metrics. */
  onReady(good: boolean): void
  /** Returns the URL of the service, undefined before it listens. */
  serviceUrl(): string | undefined
}

/** Status 200 and plain text unless it says otherwise. */
export type Answer = {
  status?: number
  headers?: Record<string, string | string[]>
  body: string | Buffer | AsyncIterable<string | Buffer>
}

/** @param isLocal Whether the pages can be reached from this machine alone. */
type Page = (isLocal: boolean) => Answer | Promise<Answer>

const list = `/livez         whether the process answers
/readyz        whether it can do its work, and why not
/metrics       figures in Prometheus' text format
/docs          the documentation of the service
/history.html  what each version of its document changed
/try.html      a form for each operation, which asks the service
/openapi.json  its OpenAPI document
`

/** Where the docs page can have a link to the forms; a page that is published has no service beside it. */
const linkPlace = '<!-- try.html -->'
const link = '<a href="try.html">Try an operation</a>'

/**
 * Requests are forwarded from a loopback address, which rate limits and TRUST_PROXY treat as local, so other machines
 * must not send any.
 */
export const onlyLocal: Answer = {
  status: 404,
  body:
    'operations are tried on a loopback MANAGEMENT_HOST only, such as 127.0.0.1; ' +
    'from another machine use a tunnel: ssh -L 3001:127.0.0.1:3001 HOST\n',
}

/** Returns the pages of the admin server, by path. */
export function pages({ contract, docs, metrics, ready, onReady }: ManagementOptions) {
  const { title, version } = contract.routes.info
  const probe = readiness(ready)
  const look = async () => {
    const reason = await probe()
    onReady(reason === undefined)
    return reason
  }
  return new Map<string, Page>([
    ['/', () => ({ body: `${title} ${version}\n\n${list}` })],
    ['/livez', () => ({ body: 'alive\n' })],
    [
      '/readyz',
      async () => {
        const reason = await look()
        return reason === undefined ? { body: 'ready\n' } : { status: 503, body: `${reason}\n` }
      },
    ],
    [
      '/metrics',
      async () => {
        // The figure of readiness is that of the scrape, whether or not anything else asks.
        await look()
        return { headers: { 'content-type': prometheus }, body: await metrics() }
      },
    ],
    ['/docs', (isLocal) => docsPage(docs, isLocal)],
    // What the docs page and its history call each other, beside each other in their directory.
    ['/index.html', (isLocal) => docsPage(docs, isLocal)],
    ['/history.html', () => htmlPage(join(dirname(docs), 'history.html'))],
    ['/try.html', (isLocal) => (isLocal ? htmlPage(join(dirname(docs), 'try.html'), 'npm run build') : onlyLocal)],
    ['/openapi.json', () => ({ headers: { 'content-type': 'application/json' }, body: contract.documentText })],
  ])
}

const prometheus = 'text/plain; version=0.0.4; charset=utf-8'

/** The part of a page's policy that counts in a header only; the rest is in the page, with the hash of its script. */
const policy = "frame-ancestors 'none'"

async function docsPage(path: string, isLocal: boolean): Promise<Answer> {
  const page = await htmlPage(path)
  return isLocal ? { ...page, body: String(page.body).replace(linkPlace, link) } : page
}

async function htmlPage(path: string, command = 'npm run docs'): Promise<Answer> {
  const body = await readFile(path).catch(() => undefined)
  if (body === undefined) return { status: 404, body: `the page has not been made yet: ${command} makes it\n` }
  return { headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy }, body }
}
