import type { FastifyReply } from 'fastify'
import type { Operation, PreconditionRules } from '../contract/routes.ts'
import { endSource, sendHead } from '../http/streams.ts'
import { isEntityTag } from '../preconditions/entity-tags.ts'
import { type CurrentState, failedPrecondition } from '../preconditions/evaluate-preconditions.ts'
import { parseHttpDate } from '../preconditions/http-dates.ts'
import { preconditionFailed, tagForm } from '../preconditions/precondition-check.ts'
import { preconditionsOf } from '../preconditions/request-preconditions.ts'
import { digestedResponse } from './digested-response.ts'
import { type HeaderTexts, setHeaders } from './response-headers.ts'
import {
  type HandlerResponse,
  headerTexts,
  type SendResponse,
  senderFor,
  sendResponse,
  sendWith,
} from './send-response.ts'
import { isStream } from './streamed-body.ts'

/** Returns how to send the responses of an operation that evaluates preconditions. */
export const conditionalSender = (operation: Operation, rules: PreconditionRules): SendResponse =>
  rules.of === 'write' ? checkedWrites(operation) : comparedReads(operation, rules)

/** Preconditions apply only where the response would otherwise be a 2xx (RFC 9110 section 13.2.1). */
const isSuccess = ({ status }: HandlerResponse): boolean => status >= 200 && status < 300

/** Returns a function that sends the responses of a write. It throws for a 2xx whose preconditions were not checked. */
function checkedWrites({ operationId }: Operation): SendResponse {
  return function sendChecked(senders, reply, response) {
    const result = preconditionsOf(reply.request.raw).check?.result
    if (isSuccess(response) && (result === undefined || response.checked !== result)) {
      const problem = `operation ${operationId}: response ${response.status} must have the member checked`
      throw new Error(`${problem}, with the result of preconditions.check`)
    }
    return sendResponse(senders, reply, response)
  }
}

/**
 * Returns a function that sends the responses of a read: 304 in place of a 2xx that the client has already. It throws a
 * ContractError with status 412 for a failed If-Match or If-Unmodified-Since.
 */
function comparedReads(operation: Operation, rules: PreconditionRules): SendResponse {
  const keptHeaders = headersOfNotModified(operation)
  return function sendCompared(senders, reply, given) {
    if (!isSuccess(given)) return sendResponse(senders, reply, given)
    const { response, sendBody = sendWith } = rules.isDigest
      ? digestedResponse(operation, reply, given)
      : { response: given }
    const sender = senderFor(senders, response)
    const texts = headerTexts(sender, response)
    const current = stateIn(texts)
    const failed = failedPrecondition('read', preconditionsOf(reply.request.raw).fields, current)
    if (failed === undefined) return sendBody(sender, reply, response, texts)
    if (failed === 412) throw preconditionFailed(rules, current)
    if (isStream(response.body)) endSource(response.body)
    sendNotModified(reply, texts, (name) => keptHeaders.has(name) || (name === 'last-modified' && !current.etag))
    return undefined
  }
}

/**
 * Returns the headers of a 2xx, in lower case, that a 304 has, too: those of RFC 9110 section 15.4.5, and those that the
 * document declares for the 304. Node.js adds Date.
 */
const headersOfNotModified = ({ schema }: Operation): Set<string> =>
  new Set([
    'cache-control',
    'content-location',
    'etag',
    'expires',
    'vary',
    ...Object.keys(schema.response['304']?.headers ?? {}).map((name) => name.toLowerCase()),
  ])

function sendNotModified(reply: FastifyReply, texts: HeaderTexts, isKept: (name: string) => boolean): void {
  setHeaders(
    reply,
    texts.filter(([name]) => isKept(name.toLowerCase())),
  )
  reply.code(304)
  // Fastify's route for HEAD would add Content-Length: 0, which is not that of a 200 (RFC 9110 section 8.6).
  if (reply.request.method === 'HEAD') sendHead(reply)
  else reply.send()
}

/** Returns the validators in the headers of a response. Throws for a value that no client could send back. */
function stateIn(texts: HeaderTexts): CurrentState {
  const state: CurrentState = {}
  for (const [name, text] of texts) {
    const key = name.toLowerCase()
    if (key === 'etag') {
      if (!isEntityTag(text)) throw new Error(`the header ETag must be ${tagForm}; got ${text}`)
      state.etag = text
    }
    if (key === 'last-modified') {
      state.lastModified = parseHttpDate(String(text))
      if (state.lastModified === undefined)
        throw new Error(`the header Last-Modified must be a date of HTTP, as httpDate returns it; got ${text}`)
    }
  }
  return state
}
