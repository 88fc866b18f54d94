import type { FastifyInstance } from 'fastify'
import { decodeJson } from '../json/decode-json.ts'
import type { JsonDocument } from '../json/json-document.ts'
import type { JsonError } from '../json/json-error.ts'
import { parseJson } from '../json/parse-json.ts'
import { ContractError } from './errors.ts'
import { checkTrailerSize } from './header-limit.ts'
import { type BodyMemory, readBody } from './read-body.ts'
import { contentLength } from './request-head.ts'

/** Bytes of the trailers of a body, and the memory that bodies share. */
type BodyLimits = { headersLimit: number; memory: BodyMemory }

/**
 * Makes strict JSON, under these media types, the only body that an app reads: 413 for a body that is too large, 503 for
 * one that there is no room for, 400 for one that is not JSON. The body of a request is then a JsonDocument.
 */
export function acceptJson(app: FastifyInstance, mediaTypes: string[], { headersLimit, memory }: BodyLimits): void {
  const limit = app.initialConfig.bodyLimit as number
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(mediaTypes, ({ headers, raw }, _payload, done) => {
    readBody(raw, { announced: contentLength(headers), limit, memory }, (error, bytes) => {
      if (bytes === undefined) {
        done(error)
        return
      }
      const refusal = checkTrailerSize(raw, bytes.length, headersLimit) ?? memory.admit(bytes.length)
      if (refusal !== undefined) done(refusal)
      else parse(bytes, done)
    })
  })
}

function parse(bytes: Buffer, done: (error: Error | null, document?: JsonDocument) => void): void {
  let document: JsonDocument
  try {
    document = parseJson(decodeJson(bytes))
  } catch (error) {
    done(new ContractError('notJson', `body is not JSON: ${(error as JsonError).message}`))
    return
  }
  // Errors of the steps that follow are not this parser's to catch.
  done(null, document)
}
