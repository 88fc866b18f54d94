import { requestOf } from './requests.js'

// The generator typescript-fetch of openapi-generator: a class with a method for each operation, whose argument has the
// parameters and the body. Its functions FromJSON and ToJSON convert models.

// It makes no identifier of a name that is not ASCII, and then nothing compiles.
const unusable = ['queryUnicodeName', 'bodyJsonUnicodeNames']

export async function build(context) {
  const { javascriptClient } = await import('./build.js')
  const { generateClient } = await import('../openapi-generator.ts')
  const built = await javascriptClient(context, import.meta.url)
  await generateClient({ ...context, ...context.documentsWithout(unusable) }, 'typescript-fetch', 'sdk')
  return { ...built, missing: Object.fromEntries(unusable.map((operation) => [operation, 'does not compile'])) }
}

export async function connect(baseUrl, document) {
  const { readFileSync } = await import('node:fs')
  const sdk = await import(new URL('sdk/index.ts', import.meta.url).href)
  const source = readFileSync(new URL('sdk/apis/DefaultApi.ts', import.meta.url), 'utf8')
  return async (each) => {
    const { given, parameters, body, mediaType, credentials } = requestOf(document, each, {
      date: (text) => new Date(text),
      dateTime: (text) => new Date(text),
    })
    const { bearer, basic, ...keys } = credentials
    const api = new sdk.DefaultApi(
      new sdk.Configuration({
        basePath: baseUrl,
        ...(bearer && { accessToken: bearer }),
        ...(basic && basic),
        apiKey: (name) => (name === 'X-Api-Key' ? keys.keyHeader : (keys.keyQuery ?? keys.keyCookie)),
      }),
    )
    const method = signatureOf(source, each.operation)
    if (method === undefined) return { sent: false, missing: true }
    const values = [
      ...parameters.map(({ name }) => given[name]),
      ...bodyValues(body, mediaType, method, parameters.length),
    ]
    const argument = Object.fromEntries(
      method.members
        .map(({ name, type }, at) => [name, modelOf(sdk, type, values[at])])
        .filter(([, value]) => value !== undefined),
    )
    try {
      const result = await api[`${each.operation}Raw`](...(method.members.length > 0 ? [argument] : []))
      const { status, headers } = result.raw
      return {
        status,
        headers: Object.fromEntries(headers),
        response: jsonOf(sdk, method.returns, await result.value()),
      }
    } catch (error) {
      if (error.response === undefined) throw error
      const text = await error.response.text()
      const response = text === '' ? undefined : JSON.parse(text)
      return { status: error.response.status, headers: Object.fromEntries(error.response.headers), response }
    }
  }
}

/** Returns the members of a method's argument with their types, in the order of the document, and what it returns. */
function signatureOf(source, operation) {
  const method = new RegExp(
    `async ${operation}Raw\\((?:requestParameters: (\\w+)[^,]*, )?init.*ApiResponse<(.*)>> \\{`,
  ).exec(source)
  if (method === null) return undefined
  const [, argument, returns] = method
  const [, text = ''] = new RegExp(`export interface ${argument} \\{\n(.*?)\n\\}`, 's').exec(source) ?? []
  const members = Array.from(text.matchAll(/^ {4}(\w+|\$\w+)\??: (.*);$/gm), ([, name, type]) => ({ name, type }))
  return { members, returns }
}

/** Returns the body as one argument, or the fields of a form as arguments of their own. */
function bodyValues(body, mediaType, { members }, before) {
  if (mediaType === undefined) return []
  if (mediaType === 'application/octet-stream') return [new Blob([Buffer.from(body, 'base64')])]
  if (!/form/.test(mediaType)) return [body]
  return members.slice(before).map(({ name }) => body[name])
}

/** Returns a value as a model. Its user would build the same object. */
function modelOf(sdk, type, value) {
  const [, item] = /^Array<(\w+)>$/.exec(type) ?? []
  if (item !== undefined && Array.isArray(value)) return value.map((each) => modelOf(sdk, item, each))
  const convert = sdk[`${type.replace(/ \| null$/, '')}FromJSON`]
  return convert === undefined || value === undefined ? value : convert(value)
}

function jsonOf(sdk, type, value) {
  // Its ToJSON leaves out the properties that are readOnly.
  const convert = type === 'Account' ? undefined : sdk[`${type}ToJSON`]
  return convert === undefined || value === undefined ? value : convert(value)
}
