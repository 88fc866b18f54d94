import createFetchClient, { type Client as FetchClient } from 'openapi-fetch'
import { stringifyJson } from '../json/stringify-json.ts'
import { exactReply, type Int64Replies, type ReplyPlace, replyPlace } from './exact-reply.ts'

export type ClientOptions = {
  /** Where the service is: its origin, and the path before those of the document when there is one. */
  baseUrl: string
  /** The access token (RFC 6750), or what gives one for each request, so that it can be rotated. */
  token?: string | (() => string | Promise<string>)
  /** What sends a request; the platform's own fetch unless it is given. */
  fetch?: (request: Request) => Promise<Response>
}

const methods = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE'] as const

/**
 * One function for each method, which takes a path of the document and `{ params, body }` as its operation has them and
 * resolves to `{ data, response }`, or `{ error, response }` when the status is none of success. It rejects when there
 * is no answer.
 */
export type ExactClient<Paths extends object> = Pick<FetchClient<Paths>, (typeof methods)[number]>

/** Gives a client of the document whose types are `Paths` and whose replies hold an int64 where `table` says. */
export function exactClient<Paths extends object>(
  table: Int64Replies,
  { baseUrl, token, fetch = globalThis.fetch }: ClientOptions,
): ExactClient<Paths> {
  const client = createFetchClient<Paths>({ baseUrl, bodySerializer: stringifyJson })

  const call =
    (method: Method) =>
    async (path: string, init: Init = {}) => {
      let place: ReplyPlace | undefined
      let text = ''
      const send = async (request: Request) => {
        const bearer = typeof token === 'function' ? await token() : token
        if (bearer !== undefined) request.headers.set('authorization', `Bearer ${bearer}`)
        const response = await (init.fetch ?? fetch)(request)
        place = replyPlace(table, `${method} ${path}`, response.status)
        if (place !== undefined) text = await response.clone().text()
        return response
      }
      const result: Result = await client.request(method as never, path as never, { ...init, fetch: send } as never)
      const parsed = result.error ?? ((init.parseAs ?? 'json') === 'json' ? result.data : undefined)
      // An error that is no JSON is given as its text.
      if (place === undefined || parsed === undefined || typeof parsed === 'string') return result
      return { ...result, ['error' in result ? 'error' : 'data']: exactReply(text, table, place) }
    }
  return Object.fromEntries(methods.map((method) => [method, call(method)])) as unknown as ExactClient<Paths>
}

type Method = (typeof methods)[number]
type Init = { parseAs?: string; fetch?: ClientOptions['fetch'] }
type Result = { data?: unknown; error?: unknown; response: Response }
