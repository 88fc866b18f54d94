import type { FormField } from 'fastify-contract/contract'
import { stringifyJson } from 'fastify-contract/json'
import { concreteType } from '../../examples/examples.ts'
import { fileName } from '../../examples/request-examples.ts'
import type { BodyPart } from './operation-parts.ts'

/** A fixed boundary, so that the same seed gives the same bytes. No generated text has it. */
const boundary = 'contract-test-part-7MA4YWxkTrZu0gW'

/** Returns a media type of forms with the boundary of their parts (RFC 7578 section 4.1). */
export const multipartType = (mediaType: string): string => `${mediaType}; boundary=${boundary}`

/** Writes a form with parts. Returns undefined if a part cannot represent its value. */
export function multipartBytes({ form }: BodyPart, value: Record<string, unknown>): Uint8Array | undefined {
  const chunks: Buffer[] = []
  for (const [name, given] of Object.entries(value)) {
    const field = form?.fields.find((one) => one.name === name) ?? form?.otherParts?.field
    const items = field?.part?.isItem ? [given].flat() : [given]
    for (const item of items) {
      const part = partBytes(name, field, item)
      if (part === undefined) return undefined
      chunks.push(part)
    }
  }
  // A body without a part has only the closing delimiter.
  return Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)])
}

function partBytes(name: string, field: FormField | undefined, item: unknown): Buffer | undefined {
  const { part, kind } = field ?? {}
  const [first] = part?.mediaTypes ?? []
  if (part?.isFile) {
    const type = concreteType(first ?? 'application/octet-stream')
    const bytes = item instanceof Uint8Array ? Buffer.from(item) : Buffer.from(String(item))
    return encoded(`; filename="${fileName(name, type)}"`, type, bytes)
  }
  const isJson = kind === 'json' || (typeof item === 'object' && item !== null)
  if (item === null && !isJson) return undefined
  const text = isJson || typeof item !== 'string' ? String(stringifyJson(item)) : item
  const type = first === undefined ? (isJson ? 'application/json' : undefined) : concreteType(first)
  return encoded('', type, Buffer.from(text))

  function encoded(more: string, type: string | undefined, bytes: Buffer): Buffer {
    // WHATWG HTML section 4.10.22.8: these characters of a name are percent-encoded.
    const written = name.replace(/["\r\n]/g, (character) => encodeURIComponent(character))
    const lines = [`--${boundary}`, `Content-Disposition: form-data; name="${written}"${more}`]
    if (type !== undefined) lines.push(`Content-Type: ${type}`)
    return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes, Buffer.from('\r\n')])
  }
}
