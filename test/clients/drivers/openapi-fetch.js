import { credentialsOf, formData, jsonLines, requestOf } from './requests.js'

// openapi-fetch has no code for operations: it sends the values of a call, with the styles that its user sets.

export async function build(context) {
  const { javascriptClient } = await import('./build.js')
  return javascriptClient(context, import.meta.url)
}

export async function connect(baseUrl, document) {
  const { default: createClient } = await import('openapi-fetch')
  const client = createClient({ baseUrl })
  return async (each) => {
    const { method, path, parts, parameters, body, mediaType, credentials, accepts } = requestOf(document, each)
    const { headers, query } = credentialsOf(credentials)
    const { data, error, response } = await client[method](path, {
      params: { ...parts, query: { ...parts.query, ...query } },
      querySerializer: querySerializer(parameters),
      headers: { ...headers, ...(mediaType && { 'Content-Type': contentTypeOf(mediaType) }) },
      ...(mediaType && { body, ...serializerOf(mediaType) }),
      ...parseAs(accepts, each),
    })
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      response: each.reply?.status === 204 ? undefined : (data ?? error),
    }
  }
}

/** Returns the option for the styles of the parameters in the query. */
function querySerializer(parameters) {
  const styles = parameters.filter(({ in: location }) => location === 'query')
  const list = styles.find(({ schema }) => schema?.type === 'array')
  const object = styles.find(({ schema }) => schema?.type === 'object' || schema?.$ref)
  const optionOf = ({ style = 'form', explode = style === 'form' }) => ({ style, explode })
  return {
    ...(list && { array: optionOf(list) }),
    ...(object && { object: optionOf(object) }),
    ...(styles.some(({ allowReserved }) => allowReserved) && { allowReserved: true }),
  }
}

// The platform sets the media type of a form, with its boundary.
const contentTypeOf = (mediaType) => (mediaType.startsWith('multipart/') ? null : mediaType)

function serializerOf(mediaType) {
  if (mediaType.startsWith('multipart/')) return { bodySerializer: formData }
  if (mediaType.startsWith('text/')) return { bodySerializer: (body) => body }
  if (mediaType === 'application/octet-stream') return { bodySerializer: (body) => Buffer.from(body, 'base64') }
  return mediaType === 'application/jsonl' ? { bodySerializer: jsonLines } : {}
}

function parseAs([mediaType = ''], { reply }) {
  const type = reply?.contentType ?? mediaType
  if (type.startsWith('text/') || type === 'application/jsonl') return { parseAs: 'text' }
  return type === 'application/octet-stream' ? { parseAs: 'arrayBuffer' } : {}
}
