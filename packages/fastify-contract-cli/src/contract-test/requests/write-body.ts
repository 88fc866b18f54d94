import { sentBody } from 'fastify-contract/client'
import { serializeEvent } from 'fastify-contract/contract'
import { stringifyJson } from 'fastify-contract/json'
import type { BodyPart } from './operation-parts.ts'
import { multipartBytes, multipartType } from './write-multipart.ts'

/** A body as it is sent. */
export type WrittenBody = { mediaType: string; body: Uint8Array }

/**
 * Writes the value of a body in its media type: items as lines or events, text and bytes unchanged. Returns undefined
 * if the media type cannot represent the value.
 */
export function bodyBytes(part: BodyPart, value: unknown): WrittenBody | undefined {
  const { mediaType, kind, styles } = part
  const bytes = (text: string): WrittenBody => ({ mediaType, body: Buffer.from(text) })
  if (value instanceof Uint8Array) return { mediaType, body: value }
  if (kind === 'json') return bytes(String(stringifyJson(value)))
  if (kind === 'events') return bytes([value].flat().map(eventText).join(''))
  if (kind === 'lines') return bytes(String(sentBody([value].flat(), mediaType).body))
  if (kind === 'multipart') return isObject(value) ? multipart(part, value) : undefined
  if (kind === 'form') {
    if (!isObject(value)) return undefined
    try {
      return bytes(String(sentBody(value, mediaType, styles).body))
    } catch {
      return undefined
    }
  }
  return typeof value === 'string' ? bytes(value) : undefined
}

const eventText = (data: unknown): string => serializeEvent({ data }, (item) => String(stringifyJson(item)))

function multipart(part: BodyPart, value: Record<string, unknown>): WrittenBody | undefined {
  const body = multipartBytes(part, value)
  return body && { mediaType: multipartType(part.mediaType), body }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
