import type { ResponseCheck } from './check.ts'
import { isWithoutContent } from './documented-response.ts'

export const emptyBody: ResponseCheck = {
  name: 'empty-body',
  summary: 'Responses to HEAD, and those with the status 204 or 304, have no body.',
  find(exchange) {
    const { request, response } = exchange
    if (!isWithoutContent(exchange) || response.body.length === 0) return undefined
    const of = request.method === 'HEAD' ? 'a response to HEAD' : `a response with the status ${response.status}`
    return { expected: `no body in ${of}`, got: `${response.body.length} bytes`, kind: request.method }
  },
}
