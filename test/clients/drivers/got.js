import { formFields, handWritten, handWrittenBody, handWrittenHeaders, parsed, requestOf } from './requests.js'

// Requests by hand with the options searchParams, json, form and body of got.

export async function build(context) {
  const { javascriptClient } = await import('./build.js')
  return javascriptClient(context, import.meta.url)
}

export async function connect(baseUrl, document) {
  const { default: got } = await import('got')
  return async (each) => {
    const request = requestOf(document, each)
    const { target, query } = handWritten(request)
    const { headers, ...body } = optionsOf(request)
    const response = await got(baseUrl + target, {
      method: request.method,
      ...(query.size > 0 && { searchParams: query }),
      headers: { ...handWrittenHeaders(request), ...headers },
      ...body,
      throwHttpErrors: false,
      retry: { limit: 0 },
      responseType: 'buffer',
    })
    const type = response.headers['content-type']
    return {
      status: response.statusCode,
      headers: response.headers,
      response:
        type === 'application/octet-stream' ? response.body : parsed(Buffer.from(response.body).toString(), type),
    }
  }
}

/** Returns the options of got for a body: `json` and `form` set its media type. */
function optionsOf(request) {
  const { body, mediaType } = request
  if (mediaType === 'application/json') return { json: body }
  if (mediaType === 'application/x-www-form-urlencoded')
    return { form: Object.fromEntries(formFields(body)), ...formOf(body) }
  return handWrittenBody(request)
}

// The option form takes one value for each name, or URLSearchParams as a body.
const formOf = (body) =>
  Object.values(body).some(Array.isArray)
    ? {
        form: undefined,
        body: String(formFields(body)),
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      }
    : {}
