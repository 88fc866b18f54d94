import { credentialsOf, handWrittenHeaders, requestOf } from './requests.js'

// The typed client of this repository, with the files that generate writes.

export async function build(context) {
  const { javascriptClient } = await import('./build.js')
  const { cp, symlink, rm } = await import('node:fs/promises')
  const { join } = await import('node:path')
  const { directory } = context
  const built = await javascriptClient({ ...context, npmInstall: async () => {} }, import.meta.url)
  const project = join(directory, '..', 'reference')
  await cp(join(project, 'generated', 'client.json'), join(directory, 'client.json'))
  await rm(join(directory, 'node_modules'), { force: true })
  await symlink(join(project, 'node_modules'), join(directory, 'node_modules'))
  return { ...built, env: { TABLE: join(directory, 'client.json') } }
}

export async function connect(baseUrl, document) {
  const { readFileSync } = await import('node:fs')
  const { exactClient } = await import('fastify-contract/client')
  const client = exactClient(JSON.parse(readFileSync(process.env.TABLE, 'utf8')), { baseUrl })
  return async (each) => {
    const request = requestOf(document, each, { int64: BigInt })
    const { method, path, parts, body, mediaType, credentials, accepts } = request
    const { headers, query } = credentialsOf(credentials)
    // The client leaves cookies to its users.
    const cookies = handWrittenHeaders({
      parameters: request.parameters,
      parts: { cookie: parts.cookie },
      credentials: {},
    })
    const { status, data, error, response } = await client[method](path, {
      params: { path: parts.path, query: { ...parts.query, ...query }, header: parts.header },
      headers: { ...headers, ...cookies },
      ...(mediaType && { body: mediaType === 'application/octet-stream' ? Buffer.from(body, 'base64') : body }),
      ...(mediaType && mediaType !== 'application/json' && { contentType: mediaType }),
      ...parseAs(each.reply?.contentType ?? accepts[0] ?? ''),
    })
    const items = data?.[Symbol.asyncIterator] && (await itemsOf(data, response))
    return { status, headers: Object.fromEntries(response.headers), response: items ?? data ?? error }
  }
}

function parseAs(type) {
  if (type.startsWith('text/') && type !== 'text/event-stream') return { parseAs: 'text' }
  return type === 'application/octet-stream' ? { parseAs: 'blob' } : {}
}

/** Returns the items of a stream; of an event stream the data, as for each client. */
async function itemsOf(items, { headers }) {
  const all = []
  for await (const item of items) all.push(headers.get('content-type') === 'text/event-stream' ? item.data : item)
  return all
}
