export type Server = { url: string; variables?: Record<string, { default: string; enum?: string[] }> }

/** Scheme and authority of a URL (RFC 3986 section 3), in which variables may stand. */
const origin = /^(?:[^/]*:)?\/\/[^/]*/

/**
 * Returns the paths below which the servers of an operation stand, without a slash at their end. A variable is
 * each value of its enum, else its default (OpenAPI 3.1 section 4.8.6). No servers are one at the root.
 */
export const basePaths = (servers: Server[]): string[] =>
  servers.length === 0 ? [''] : [...new Set(servers.flatMap(pathsOf))]

function pathsOf({ url, variables = {} }: Server): string[] {
  let paths = [url.replace(origin, '').replace(/\/$/, '')]
  for (const [name, { default: value, enum: values = [value] }] of Object.entries(variables)) {
    paths = paths.flatMap((path) => values.map((one) => path.replaceAll(`{${name}}`, one)))
  }
  return paths
}

/** Returns the URL of the first server, without a slash at its end; what it leaves out is that of `npm start`. */
export function serverUrl([server]: Server[]): string {
  const { url, variables = {} } = server ?? { url: '' }
  const filled = Object.entries(variables).reduce(
    (text, [name, { default: value }]) => text.replaceAll(`{${name}}`, value),
    url,
  )
  return new URL(filled, 'http://127.0.0.1:3000').href.replace(/\/$/, '')
}
