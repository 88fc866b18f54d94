import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { responseOf } from 'fastify-contract-test-support/response-validator'
import { join } from '../../src/document/json-pointer.ts'
import type { Document, Endpoint } from '../../src/document/openapi-document.ts'

export type ServiceResponse = { status: number; contentType: string | undefined; body: string }

/** Judges bodies against a document (OpenAPI 3.1), using plain Ajv. */
export type AjvVerdicts = {
  /** Returns whether a request body is valid: it matches its JSON schema, or is not JSON. */
  isRequest(endpoint: Endpoint, contentType: string, body: string | undefined): boolean
  /** Returns how a response violates the document; undefined if it does not. */
  problemOf(endpoint: Endpoint, answer: ServiceResponse): string | undefined
}

const json = /^application\/(?:[\w.-]+\+)?json(?:;|$)/i

/** Compiles the schemas of a document with plain Ajv and returns the functions that judge bodies. */
export function ajvVerdicts(document: Document): AjvVerdicts {
  const ajv = new Ajv2020({ strict: false, logger: false, validateSchema: false })
  addFormats.default(ajv)
  ajv.addSchema(document as object, 'document')
  const validatorOf = (pointer: string, mediaType: string): ValidateFunction | undefined =>
    ajv.getSchema(`document${join(pointer, 'content', mediaType, 'schema')}`)

  function problemOf(endpoint: Endpoint, { status, contentType, body }: ServiceResponse): string | undefined {
    const response = responseOf(endpoint, status)
    if (response === undefined) return `${status} is not listed: ${body}`
    const mediaTypes = Object.keys(response.content ?? {})
    if (mediaTypes.length === 0) return body === '' ? undefined : `${status} has a body`
    const sent = contentType?.replace(/; charset=utf-8$/, '')
    const mediaType = mediaTypes.find((one) => one === sent || isWithin(one, sent))
    if (mediaType === undefined) return `${status} has the media type ${contentType}`
    if (!json.test(String(sent)) || endpoint.method === 'HEAD') return undefined
    const validate = validatorOf(response.pointer, mediaType)
    return validate === undefined || validate(JSON.parse(body))
      ? undefined
      : `${status}: ${ajv.errorsText(validate.errors)}`
  }

  function isRequest({ requestBody }: Endpoint, contentType: string, body: string | undefined): boolean {
    if (requestBody === undefined || body === undefined || !json.test(contentType)) return true
    const validate = validatorOf(requestBody.pointer, contentType)
    return validate === undefined || validate(JSON.parse(body))
  }

  return { isRequest, problemOf }
}

/** Returns whether a media type range, such as text/*, includes a media type. */
const isWithin = (range: string, mediaType = ''): boolean =>
  range === '*/*' || (range.endsWith('/*') && mediaType.startsWith(range.slice(0, -1)))
