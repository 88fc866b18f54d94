import { readdirSync } from 'node:fs'
import type { AnyErrorBody, VerifierFactory } from 'fastify-contract'
import { ownPath } from '../support/own-path.ts'

export const directory = ownPath('test/documents')

/** The names of the documents. Each has a directory with the document and the handlers that serve it. */
export const names = readdirSync(directory, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? entry.name : [],
)

/** A request and its expected response. */
export type Call = {
  /** Method and request target. */
  request: string
  headers?: Record<string, string>
  /** The request body. A string is sent unchanged, any other value as JSON. */
  send?: unknown
  /** Default: 200. */
  status?: number
  /** The whole response body as a string, or members that its JSON must have. `error` is the error number. */
  body?: unknown
  error?: number
  /** Headers that the response must have. */
  answer?: Record<string, string | string[]>
}

/** A request that does not match its schema, and one whose media type is not supported. */
export const refused = { status: 400, error: 40003 }
export const unread = { status: 415, error: 41500 }

/** Returns a function that makes a request with a body of this type. */
export const typed = (request: string, type: string) => (send: string) => ({
  request,
  headers: { 'content-type': type },
  send,
})

/** The exports of a document's handlers.ts. */
export type Served = {
  handlers: object
  verifiers?: Record<string, VerifierFactory>
  /** Default: the service's error body. */
  errorBody?: AnyErrorBody
  calls: Call[]
}
