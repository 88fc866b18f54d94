import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import type { JsonDocument } from '../json/json-document.ts'
import { JsonError } from '../json/json-error.ts'
import { parseJson } from '../json/parse-json.ts'
import { ContractError } from './errors.ts'
import { checkTrailerSize } from './header-limit.ts'
import { type BodyMemory, readBody } from './read-body.ts'
import { contentLength } from './request-head.ts'

/** Bytes of the trailers of a body, and the memory that bodies share. */
type BodyLimits = { headersLimit: number; memory: BodyMemory }

/**
 * Makes strict JSON, under these media types, the only body that an app reads: 413 for a body that is too large, 503 for
 * one that there is no room for, 400 for one that is not JSON. The body of a request is then a JsonDocument. It is UTF-8
 * (RFC 8259 section 8.1); a byte order mark before it is ignored, as that section allows.
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
    document = parseJson(decode(bytes))
  } catch (error) {
    done(new ContractError('notJson', `body is not JSON: ${(error as JsonError).message}`))
    return
  }
  // Errors of the steps that follow are not this parser's to catch.
  done(null, document)
}

function decode(bytes: Buffer): string {
  const text = bytes.toString()
  // The replacement character stands for bytes that are not UTF-8, and for itself.
  if (text.includes('\ufffd') && !isUtf8(bytes)) throw new JsonError('it is not UTF-8')
  return text.startsWith('\ufeff') ? text.slice(1) : text
}
