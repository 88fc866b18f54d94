import { credentialsOf, formData, handWritten, handWrittenHeaders, jsonLines, parsed, requestOf } from './requests.js'

// axios converts what it can: the query by its option params, and objects to JSON and forms by the media type.

export async function build(context) {
  const { javascriptClient } = await import('./build.js')
  return javascriptClient(context, import.meta.url)
}

export async function connect(baseURL, document) {
  const { default: axios } = await import('axios')
  return async (each) => {
    const request = requestOf(document, each)
    const { method, parts, parameters, body, mediaType, credentials, accepts } = request
    const json = parameters.filter(({ in: location, content }) => location === 'query' && content)
    const texts = json.map(({ name }) => [name, JSON.stringify(parts.query[name])])
    const { basic, ...others } = credentials
    const isBinary = accepts[0] === 'application/octet-stream'
    const response = await axios.request({
      baseURL,
      url: handWritten(request).target,
      method,
      params: { ...parts.query, ...Object.fromEntries(texts), ...credentialsOf(others).query },
      headers: {
        ...handWrittenHeaders({ ...request, credentials: others }),
        ...(mediaType && { 'Content-Type': mediaType }),
      },
      ...(basic && { auth: basic }),
      ...(mediaType && { data: dataOf(body, mediaType) }),
      validateStatus: null,
      ...(isBinary && { responseType: 'arraybuffer' }),
    })
    const { data, status, headers } = response
    const type = headers['content-type']
    const isLines = type === 'application/jsonl' || type === 'text/event-stream'
    return { status, headers, response: isLines ? parsed(data, type) : data }
  }
}

function dataOf(body, mediaType) {
  // In Node.js, axios makes no form of an object with a File.
  if (mediaType.startsWith('multipart/')) return formData(body)
  if (mediaType === 'application/jsonl') return jsonLines(body)
  return mediaType === 'application/octet-stream' ? Buffer.from(body, 'base64') : body
}
