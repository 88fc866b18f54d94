import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Contract } from '../serve/load-contract.ts'
import { readiness } from './readiness.ts'

export type AdminOptions = {
  contract: Contract
  /** The path of the docs page, which may be missing. */
  docs: string
  /** Resolves with the metrics in the Prometheus text format. */
  metrics(): Promise<string>
  /** Resolves when the service is ready, and rejects with the reason when it is not. */
  ready(): Promise<void>
  /** Called with the readiness at each readiness probe and each scrape of the metrics. */
  onReady(good: boolean): void
  /** Returns the URL of the service, or undefined before it listens. */
  serviceUrl(): string | undefined
}

/** A response of the admin server; default: status 200 and plain text. */
export type AdminResponse = {
  status?: number
  headers?: Record<string, string | string[]>
  body: string | Buffer | AsyncIterable<string | Buffer>
}

/** @param isLocal Whether only this machine can reach the pages. */
type Page = (isLocal: boolean) => AdminResponse | Promise<AdminResponse>

const pathList = `/livez         whether the process is alive
/readyz        whether the service is ready, and why not
/metrics       metrics in the Prometheus text format
/docs          the documentation of the service
/history.html  the changes of each version of the OpenAPI document
/try.html      a form for each operation, which sends requests to the service
/openapi.json  the OpenAPI document
`

/**
 * Marks the place in the docs page for a link to the forms. Published docs lack the link, since there is no service
 * beside them.
 */
const linkMarker = '<!-- try.html -->'
const link = '<a href="try.html">Try an operation</a>'

/**
 * The response to forms and forwarded requests on other than loopback addresses. Rate limits and TRUST_PROXY treat
 * forwarded requests as local, so other machines must not send any.
 */
export const localOnlyResponse: AdminResponse = {
  status: 404,
  body:
    'this page needs a loopback MANAGEMENT_HOST such as 127.0.0.1; ' +
    'from another machine use a tunnel: ssh -L 3001:127.0.0.1:3001 HOST\n',
}

/** Returns the pages of the admin server, by path. */
export function pages({ contract, docs, metrics, ready, onReady }: AdminOptions) {
  const { title, version } = contract.routes.info
  const probe = readiness(ready)
  const checkReadiness = async () => {
    const reason = await probe()
    onReady(reason === undefined)
    return reason
  }
  return new Map<string, Page>([
    ['/', () => ({ body: `${title} ${version}\n\n${pathList}` })],
    ['/livez', () => ({ body: 'alive\n' })],
    [
      '/readyz',
      async () => {
        const reason = await checkReadiness()
        return reason === undefined ? { body: 'ready\n' } : { status: 503, body: `${reason}\n` }
      },
    ],
    [
      '/metrics',
      async () => {
        // The readiness metric is measured at the scrape, so that it does not depend on probes.
        await checkReadiness()
        return { headers: { 'content-type': prometheus }, body: await metrics() }
      },
    ],
    ['/docs', (isLocal) => docsPage(docs, isLocal)],
    // The docs page and its history link to each other under their file names.
    ['/index.html', (isLocal) => docsPage(docs, isLocal)],
    ['/history.html', () => htmlPage(join(dirname(docs), 'history.html'))],
    [
      '/try.html',
      (isLocal) => (isLocal ? htmlPage(join(dirname(docs), 'try.html'), 'npm run build') : localOnlyResponse),
    ],
    ['/openapi.json', () => ({ headers: { 'content-type': 'application/json' }, body: contract.documentText })],
  ])
}

const prometheus = 'text/plain; version=0.0.4; charset=utf-8'

/** The directive that works only in a header. The rest of the policy is in the page, with the hash of its script. */
const policy = "frame-ancestors 'none'"

async function docsPage(path: string, isLocal: boolean): Promise<AdminResponse> {
  const page = await htmlPage(path)
  return isLocal ? { ...page, body: String(page.body).replace(linkMarker, link) } : page
}

async function htmlPage(path: string, command = 'npm run docs'): Promise<AdminResponse> {
  const body = await readFile(path).catch(() => undefined)
  if (body === undefined) return { status: 404, body: `the page has not been built; run ${command}\n` }
  return { headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy }, body }
}
