import { resolve } from './json-pointer.ts'
import { type Document, type Endpoint, endpoints } from './openapi-document.ts'
import { type RequestParts, requestParts } from './request-parts.ts'
import { serverUrl } from './servers.ts'

const credentialNote =
  '# npm run mock accepts any token. For the service, insert one of its tokens; npm run generate will overwrite it.'

/**
 * Returns the text of a file with one request for each operation, in the format that VS Code's REST Client and
 * JetBrains' HTTP Client share: https://http-files.org.
 */
export function requestFile(document: Document): string {
  const all = endpoints(document).map((endpoint) => ({ endpoint, request: requestParts(document, endpoint) }))
  const variables = new Set(all.flatMap(({ request }) => request.variables))
  return [
    ...(variables.size > 0 ? [credentialNote] : []),
    '',
    `@origin = ${new URL(serverUrl(document.servers ?? [])).origin}`,
    ...[...variables].map((name) => `@${name} = ACCESS_TOKEN`),
    ...all.map(({ endpoint, request }) => `\n${requestText(document, endpoint, request)}`),
    '',
  ].join('\n')
}

function requestText(document: Document, { pointer, operationId, method }: Endpoint, request: RequestParts): string {
  const { summary = operationId } = resolve(document, pointer) as { summary?: string }
  return [
    `### ${String(summary).replace(/\s+/g, ' ').trim()}`,
    `# @name ${operationId}`,
    ...(request.files.length > 0 ? [`# Put ${request.files.join(' and ')} beside this file.`] : []),
    `${method} {{origin}}${request.path}`,
    // One query parameter per line, so that a user can delete a line.
    ...request.query.map((pair, index) => `    ${index === 0 ? '?' : '&'}${pair}`),
    ...request.headers.map((line) => line.replace(/\s+/g, ' ')),
    ...(request.body === undefined ? [] : ['', request.body]),
  ].join('\n')
}
