import { readdirSync } from 'node:fs'
import type { AnyErrorBody } from '../../src/openapi/error-types.ts'

export const folder = 'test/documents'

/** The documents: each has a folder, beside it the handlers that serve it. */
export const names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? entry.name : [],
)

/** A request and what must come back. */
export type Call = {
  /** Method and target. */
  request: string
  headers?: Record<string, string>
  /** Sent as JSON, or as it is when it is a text. */
  send?: unknown
  status: number
  /** The whole body as a text, or members that its JSON must have; of an error also its number. */
  body?: unknown
  error?: number
  /** Headers that the answer must have. */
  answer?: Record<string, string | string[]>
}

/** What the folder of a document exports beside it. */
export type Served = {
  handlers: object
  verifiers?: import('../support/serve-document.ts').GivenVerifiers
  /** Default: that of the service. */
  errorBody?: AnyErrorBody
  calls: Call[]
}
