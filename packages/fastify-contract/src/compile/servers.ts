export type Server = { url: string; variables?: Record<string, { default: string; enum?: string[] }> }

/** Matches the scheme and the authority of a URL (RFC 3986 section 3), which may contain variables. */
const origin = /^(?:[^/]*:)?\/\/[^/]*/

/**
 * Returns the base paths of the servers of an operation, without a trailing slash. A variable yields one path for each
 * value of its enum, or else its default (OpenAPI 3.1 section 4.8.6). Without servers the only base path is the root.
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

/** Returns the URL of the first server without a trailing slash, relative to the origin of `npm start`. */
export function serverUrl([server]: Server[]): string {
  const { url, variables = {} } = server ?? { url: '' }
  const filled = Object.entries(variables).reduce(
    (text, [name, { default: value }]) => text.replaceAll(`{${name}}`, value),
    url,
  )
  return new URL(filled, 'http://127.0.0.1:3000').href.replace(/\/$/, '')
}
