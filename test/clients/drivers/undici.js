import { exactIntegers, handWritten, handWrittenBody, handWrittenHeaders, parsed, requestOf } from './requests.js'

// Requests by hand with URLSearchParams, encodeURIComponent and FormData, sent by the fetch of undici.

export async function build(context) {
  const { javascriptClient } = await import('./build.js')
  return javascriptClient(context, import.meta.url)
}

export async function connect(baseUrl, document) {
  const { install } = await import('undici')
  install()
  return async (each) => {
    const request = requestOf(document, each, { int64: BigInt })
    const { target, query } = handWritten(request)
    const { body, headers } = handWrittenBody(request)
    const response = await fetch(baseUrl + target + (query.size > 0 ? `?${query}` : ''), {
      method: request.method,
      headers: { ...handWrittenHeaders(request), ...headers },
      body,
    })
    const type = response.headers.get('content-type')
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      response:
        type === 'application/octet-stream'
          ? await response.blob()
          : parsed(await response.text(), type, exactIntegers),
    }
  }
}
