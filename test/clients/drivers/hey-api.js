import { requestOf } from './requests.js'

// hey-api writes a function for each operation, which gets path, query, headers, body and auth.

export async function build(context) {
  const { environmentOf, javascriptClient } = await import('./build.js')
  const built = await javascriptClient(context, import.meta.url)
  const args = ['-i', context.document, '-o', 'sdk', '-c', '@hey-api/client-fetch', '--no-log-file']
  await context.run('node_modules/.bin/openapi-ts', args, { env: environmentOf(context) })
  return built
}

export async function connect(baseUrl, document) {
  const sdk = await import(new URL('sdk/index.ts', import.meta.url).href)
  const { createClient, createConfig } = await import(new URL('sdk/client/index.ts', import.meta.url).href)
  const client = createClient(createConfig({ baseUrl }))
  return async (each) => {
    const { parts, body, mediaType, credentials } = requestOf(document, each)
    if (sdk[each.operation] === undefined) return { sent: false, missing: true }
    const result = await sdk[each.operation]({
      client,
      path: parts.path,
      query: parts.query,
      headers: { ...parts.header, ...(each.mediaType && { 'Content-Type': mediaType }) },
      ...(mediaType && { body: mediaType === 'application/octet-stream' ? Buffer.from(body, 'base64') : body }),
      auth: (scheme) => tokenOf(scheme, credentials),
    })
    const { data, error, response, stream } = result
    if (stream !== undefined) return { response: stream }
    if (response === undefined) throw error
    return { status: response.status, headers: Object.fromEntries(response.headers), response: data ?? error }
  }
}

function tokenOf({ type, scheme, in: location = 'header' }, { bearer, basic, keyHeader, keyQuery, keyCookie }) {
  if (type === 'apiKey') return { header: keyHeader, query: keyQuery, cookie: keyCookie }[location]
  return scheme === 'basic' ? basic && `${basic.username}:${basic.password}` : bearer
}
