import { requestOf } from './requests.js'

// The generator typescript-axios of openapi-generator: a class with a method for each operation, whose arguments are the
// required parameters and the body, then the optional ones.

export async function build(context) {
  const { javascriptClient } = await import('./build.js')
  const { generateClient } = await import('../openapi-generator.ts')
  const built = await javascriptClient(context, import.meta.url)
  await generateClient(context, 'typescript-axios', 'sdk')
  return built
}

export async function connect(baseUrl, document) {
  const { readFileSync } = await import('node:fs')
  const sdk = await import(new URL('sdk/index.ts', import.meta.url).href)
  const source = readFileSync(new URL('sdk/api.ts', import.meta.url), 'utf8')
  return async (each) => {
    const { given, parameters, body, mediaType, credentials, accepts } = requestOf(document, each)
    const { bearer, basic, ...keys } = credentials
    const api = new sdk.DefaultApi(
      new sdk.Configuration({
        basePath: baseUrl,
        ...(bearer && { accessToken: bearer }),
        ...(basic && basic),
        apiKey: (name) => (name === 'X-Api-Key' ? keys.keyHeader : (keys.keyQuery ?? keys.keyCookie)),
      }),
    )
    if (api[each.operation] === undefined) return { sent: false, missing: true }
    const names = argumentsOf(source, each.operation)
    const isForm = /form/.test(mediaType ?? '')
    const sent = mediaType === 'application/octet-stream' ? Buffer.from(body, 'base64') : body
    // Required ones come first, in the order of the document.
    const sorted = [...parameters].sort((one, other) => Number(other.required ?? false) - Number(one.required ?? false))
    const values = isForm
      ? names.map((name) => body[name])
      : [...sorted.map(({ name }) => given[name]), ...(mediaType === undefined ? [] : [sent])]
    const isBinary = accepts[0] === 'application/octet-stream'
    const options = { validateStatus: null, ...(isBinary && { responseType: 'arraybuffer' }) }
    while (values.length < names.length) values.push(undefined)
    const { status, headers, data } = await api[each.operation](...values, options)
    return { status, headers, response: data }
  }
}

function argumentsOf(source, operation) {
  const [, text = ''] = new RegExp(`public ${operation}\\((.*)options\\?: RawAxiosRequestConfig\\)`).exec(source) ?? []
  return Array.from(text.matchAll(/(\w+)\??: [^:]*?, (?=\w+\??:|$)/g), ([, name]) => name)
}
