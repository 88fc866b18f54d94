import { type ParameterPair, parameterPairs, sentBody } from 'fastify-contract/client'
import { type FormField, kindOf, type RequestKind, requestKindOf, serializeEvent } from 'fastify-contract/contract'
import { stringifyJson } from 'fastify-contract/json'
import { formStyles, parameterStyle } from '../document/call-styles.ts'
import { formOf } from '../document/forms.ts'
import type { Document, Endpoint, Located, MediaType, Parameter, RequestBody } from '../document/openapi-document.ts'
import { isShown } from '../document/parameter-objects.ts'
import { type Credential, credentialOf, shownRequirement } from '../document/security-schemes.ts'
import { concreteType, exampleOfRequest } from './examples.ts'

/**
 * Returns what an example request of an operation consists of: the values of its parameters, their pairs of name and
 * value by location, the credentials of its `shownRequirement`, and its body.
 *
 * @param exampleOf Returns the example value of a parameter.
 */
export function exampleParts(document: Document, endpoint: Endpoint, exampleOf: (parameter: Parameter) => unknown) {
  const { parameters, security, requestBody } = endpoint
  const values = parameters.filter(isShown).map((parameter) => ({ parameter, value: exampleOf(parameter) }))
  const credentials: (Credential & { scheme: string })[] = []
  for (const scheme of Object.keys(shownRequirement(document, security))) {
    const credential = credentialOf(document, scheme)
    if (credential !== undefined) credentials.push({ ...credential, scheme })
  }
  return {
    values,
    pairs,
    credentials,
    body: requestBody && exampleRequestBody(document, requestBody),
  }

  function pairs(location: Parameter['in']): ParameterPair[] {
    const found: ParameterPair[] = []
    for (const { parameter, value } of values)
      if (parameter.in === location) found.push(...pairsOf(document, parameter, value))
    return found
  }
}

function pairsOf(document: Document, parameter: Parameter, value: unknown): ParameterPair[] {
  const { in: location, name } = parameter
  const made = parameterPairs({ ...parameterStyle(document, parameter), in: location, name }, value)
  // A path has no empty segments, as an object without members would be.
  const isEmpty = location === 'path' && made.every(([, text]) => text === '')
  const pairs: ParameterPair[] = isEmpty ? [[name, name]] : made
  return pairs.map(([name, ...rest]): ParameterPair => [name.toWellFormed(), ...rest])
}

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
  // Items are text for an editor.
  const kind = ['events', 'lines'].includes(kindOf(name)) ? 'text' : requestKindOf(name)
  const mediaType = concreteType(name)
  const value = exampleOfRequest(document, media)
  const isFile = kind === 'bytes'
  return {
    kind,
    mediaType,
    value,
    text: isFile || kind === 'multipart' ? '' : sentText(value, mediaType, formStyles(document, requestBody.content)),
    parts: kind === 'multipart' ? formParts(document, name, media, Object(value)) : [],
    file: isFile ? fileName('example', mediaType) : '',
  }
}

function sentText(value: unknown, mediaType: string, styles: ReturnType<typeof formStyles>): string {
  if (kindOf(mediaType) === 'events') return serializeEvent({ data: value }, (data) => String(stringifyJson(data)))
  if (kindOf(mediaType) === 'lines') return String(sentBody([value].flat(), mediaType).body).trimEnd()
  const isText = requestKindOf(mediaType) === 'text'
  // An empty body would be a missing one. A schema without a type allows any text.
  if (isText) return typeof value === 'string' ? value : 'text'
  return String(sentBody(value ?? null, mediaType, styles).body)
}

function formParts(
  document: Document,
  mediaType: string,
  media: MediaType,
  value: Record<string, unknown>,
): ExamplePart[] {
  const { fields } = formOf(document, mediaType, media)
  return fields.flatMap(partsFor)

  function partsFor({ name, kind, part }: FormField): ExamplePart[] {
    if (!Object.hasOwn(value, name)) return []
    const [first = 'application/octet-stream'] = part?.mediaTypes ?? []
    const type = concreteType(first)
    if (part?.isFile) return [{ name, file: fileName(name, type), mediaType: type }]
    const items = part?.isItem ? [value[name]].flat() : [value[name]]
    return items.map((item) => ({
      name,
      text: typeof item === 'string' && kind !== 'json' ? item : String(stringifyJson(item)),
    }))
  }
}

/** Returns a name for a file of a media type. */
export function fileName(name: string, mediaType: string): string {
  const [, subtype = ''] = /\/(?:x-)?([\w-]+)/.exec(mediaType) ?? []
  const ending = subtype === 'octet-stream' ? 'bin' : subtype
  return `${name.replace(/\W+/g, '-')}.${ending}`
}
