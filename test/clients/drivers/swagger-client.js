import { requestOf } from './requests.js'

// swagger-client reads the document at run time; its user names the operation.

export async function build(context) {
  const { javascriptClient } = await import('./build.js')
  return javascriptClient(context, import.meta.url)
}

export async function connect(baseUrl, document) {
  const { default: SwaggerClient } = await import('swagger-client')
  const spec = { ...document, servers: [{ url: baseUrl }] }
  return async (each) => {
    const { given, body, mediaType, credentials } = requestOf(document, each)
    const { basic, ...others } = credentials
    const authorized = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, { value }]))
    const client = await new SwaggerClient({
      spec: structuredClone(spec),
      authorizations: { ...authorized, ...(basic && { basic }) },
    })
    const sent = mediaType === 'application/octet-stream' ? Buffer.from(body, 'base64') : body
    const {
      status,
      headers,
      body: decoded,
      data,
      text,
    } = await client
      .execute({
        operationId: each.operation,
        parameters: given,
        ...(mediaType && { requestBody: sent, requestContentType: mediaType }),
      })
      .catch((error) => {
        if (error.response === undefined) throw error
        return error.response
      })
    // It parses other texts as YAML.
    const isJson = /\bjson\b/.test(headers['content-type'])
    return { status, headers, response: isJson ? decoded : (data ?? text) }
  }
}
