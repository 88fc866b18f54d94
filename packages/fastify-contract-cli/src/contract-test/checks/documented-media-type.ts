import type { ResponseCheck } from './check.ts'
import { describedResponse, describedType, headerOf, isDescribed, isWithoutContent } from './documented-response.ts'

export const documentedMediaType: ResponseCheck = {
  name: 'documented-media-type',
  summary: 'The Content-Type of each response is one that the document lists for its status.',
  find(exchange, { isOwn }) {
    const { request, response } = exchange
    const described = isDescribed(exchange) ? describedResponse(request.operation, response.status) : undefined
    if (described === undefined || isWithoutContent(exchange)) return undefined
    const types = Object.keys(described.content ?? {})
    const sent = headerOf(response, 'content-type')
    if (types.length === 0) {
      // Many documents describe responses by their status alone. The body of an error is then that of the service.
      if (!isOwn || response.body.length === 0 || response.status >= 400) return undefined
      return {
        expected: 'no body, as the document describes none',
        got: `a body of ${sent}`,
        kind: `${response.status}`,
      }
    }
    if (sent !== undefined && describedType(types, sent) !== undefined) return undefined
    const got = sent === undefined ? 'no Content-Type' : `Content-Type ${JSON.stringify(sent)}`
    return { expected: `Content-Type ${types.join(' or ')}`, got, kind: `${response.status} ${sent}` }
  },
}
