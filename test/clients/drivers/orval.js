import { credentialsOf, requestOf } from './requests.js'

// orval writes a function for each operation, with the path, body, query and headers in this order. Its user adds
// credentials and the base URL.

const config = `export default {
  everything: { input: 'everything.yaml', output: { target: 'sdk.ts', client: 'fetch', headers: true } },
}
`

export async function build(context) {
  const { environmentOf, javascriptClient } = await import('./build.js')
  const { copyFile, writeFile } = await import('node:fs/promises')
  const { join } = await import('node:path')
  const built = await javascriptClient(context, import.meta.url)
  await copyFile(context.document, join(context.directory, 'everything.yaml'))
  await writeFile(join(context.directory, 'orval.config.mjs'), config)
  const args = ['--config', 'orval.config.mjs']
  await context.run('node_modules/.bin/orval', args, { env: environmentOf(context) })
  return built
}

export async function connect(baseUrl, document) {
  const { fetch } = globalThis
  globalThis.fetch = (input, init) => fetch(new URL(input, baseUrl), init)
  const sdk = await import(new URL('sdk.ts', import.meta.url).href)
  return async (each) => {
    const { parts, parameters, body, mediaType, credentials } = requestOf(document, each)
    if (sdk[each.operation] === undefined) return { sent: false, missing: true }
    const has = (location) => parameters.some((parameter) => parameter.in === location)
    const hasBody = find(document, each.operation).requestBody !== undefined
    const headers = credentialsOf(credentials).headers
    const {
      data,
      status,
      headers: returned,
    } = await sdk[each.operation](
      ...Object.values(parts.path),
      ...(hasBody ? [mediaType === 'application/octet-stream' ? new Blob([Buffer.from(body, 'base64')]) : body] : []),
      ...(has('query') ? [parts.query] : []),
      ...(has('header') ? [parts.header] : []),
      { headers },
    )
    return { status, headers: Object.fromEntries(returned), response: data }
  }
}

const find = (document, operationId) =>
  Object.values(document.paths)
    .flatMap((path) => Object.values(path))
    .find((operation) => operation.operationId === operationId)
