import { sentBody } from '../client/call-body.ts'
import { stringifyJson } from '../json/stringify-json.ts'
import { type RequestKind, requestKindOf } from '../serve/media-types.ts'
import { concreteType, exampleOfRequest } from './examples.ts'
import { formOf } from './form-fields.ts'
import { formStyles } from './form-styles.ts'
import type { Document, Located, MediaType, RequestBody } from './openapi-document.ts'

/** A part of an example form: a text, or a file that the user must provide. */
export type ExamplePart = { name: string; text: string } | { name: string; file: string; mediaType: string }

/** An example of a request body. Files are only named, not included. */
export type ExampleBody = {
  kind: RequestKind
  mediaType: string
  value: unknown
  /** The body as it is sent; empty for a file and for a form with parts. */
  text: string
  parts: ExamplePart[]
  file: string
}

/** Returns an example of the body of a request, in its first media type. */
export function exampleRequestBody(document: Document, requestBody: Located<RequestBody>): ExampleBody {
  const [[name, media] = ['', {}]] = Object.entries(requestBody.content)
  const kind = requestKindOf(name)
  const mediaType = concreteType(name)
  const value = exampleOfRequest(document, media)
  const isFile = kind === 'bytes'
  return {
    kind,
    mediaType,
    value,
    text: isFile || kind === 'multipart' ? '' : textOf(value, mediaType, formStyles(document, requestBody)),
    parts: kind === 'multipart' ? partsOf(document, name, media, Object(value)) : [],
    file: isFile ? fileName('example', mediaType) : '',
  }
}

function textOf(value: unknown, mediaType: string, styles: ReturnType<typeof formStyles>): string {
  const isText = requestKindOf(mediaType) === 'text'
  if (isText) return typeof value === 'string' ? value : ''
  return String(sentBody(value ?? null, mediaType, styles).body)
}

function partsOf(
  document: Document,
  mediaType: string,
  media: MediaType,
  value: Record<string, unknown>,
): ExamplePart[] {
  const { fields } = formOf(document, mediaType, media)
  return fields.flatMap(({ name, kind, part }): ExamplePart[] => {
    if (!Object.hasOwn(value, name)) return []
    const [first = 'application/octet-stream'] = part?.mediaTypes ?? []
    const type = concreteType(first)
    if (part?.isFile) return [{ name, file: fileName(name, type), mediaType: type }]
    const items = part?.isItem ? [value[name]].flat() : [value[name]]
    return items.map((item) => ({
      name,
      text: typeof item === 'string' && kind !== 'json' ? item : String(stringifyJson(item)),
    }))
  })
}

/** Returns a name for a file of a media type. */
function fileName(name: string, mediaType: string): string {
  const [, subtype = ''] = /\/(?:x-)?([\w-]+)/.exec(mediaType) ?? []
  const ending = subtype === 'octet-stream' ? 'bin' : subtype
  return `${name.replace(/\W+/g, '-')}.${ending}`
}
