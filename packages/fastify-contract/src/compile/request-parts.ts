import { expandPath, type ParameterPair, pairText, parameterPairs } from '../client/parameter-pairs.ts'
import { type ExampleBody, exampleRequestBody } from './example-bodies.ts'
import { exampleOfRequest } from './examples.ts'
import type { Document, Endpoint, Parameter } from './openapi-document.ts'
import { holderOf } from './parameter-content.ts'
import { credentialOf } from './security-schemes.ts'
import { parameterStyle } from './written-styles.ts'

/** A request with the document's example values. A credential is a variable with the name of its scheme: {{bearer}}. */
export type RequestParts = {
  path: string
  /** Percent-encoded "name=value" pairs. */
  query: string[]
  /** "name: value" lines. */
  headers: string[]
  body?: string
  /** The names of the files that the body refers to, in the same directory as the request file. */
  files: string[]
  /** The names of the variables for its credentials. */
  variables: string[]
}

/**
 * Returns an example request of an operation. It has the first example of the body, of each required parameter, and of
 * each optional parameter with an example. Its credentials are those of the first security requirement.
 */
export function requestParts(
  document: Document,
  { routes, parameters, requestBody, security }: Endpoint,
): RequestParts {
  const shown = parameters.filter(isShown)
  const pairs = (place: Parameter['in']) =>
    shown
      .filter((parameter) => parameter.in === place)
      .flatMap((parameter) => shownPairs(parameter, exampleOfRequest(document, holderOf(parameter))))
  const credentials = Object.keys(security[0] ?? {}).flatMap((name) => variableOf(document, name) ?? [])
  const placed = (place: string) => credentials.filter((one) => one.place === place).map(({ text }) => text)
  const cookies = [...pairs('cookie').map(pairText), ...placed('cookie')]
  const body = requestBody && exampleRequestBody(document, requestBody)
  return {
    path: expandPath(routes[0] as string, pairs('path')),
    query: [...pairs('query').map(pairText), ...placed('query')],
    headers: [
      ...placed('header'),
      ...pairs('header').map(([name, value]) => `${name}: ${value}`),
      ...(cookies.length > 0 ? [`Cookie: ${cookies.join('; ')}`] : []),
      ...(body === undefined ? [] : [`Content-Type: ${contentTypeOf(body)}`]),
    ],
    ...(body && { body: bodyText(body) }),
    files: body === undefined ? [] : filesOf(body),
    variables: credentials.map(({ variable }) => variable),
  }
}

/** The boundary between the parts of a form. */
const boundary = 'example'

const contentTypeOf = ({ kind, mediaType }: ExampleBody): string =>
  kind === 'multipart' ? `${mediaType}; boundary=${boundary}` : mediaType

const filesOf = ({ file, parts }: ExampleBody): string[] => [
  ...(file === '' ? [] : [file]),
  ...parts.flatMap((part) => ('file' in part ? [part.file] : [])),
]

function bodyText({ kind, value, text, parts, file }: ExampleBody): string {
  if (kind === 'json') return JSON.stringify(value, null, 2)
  if (kind === 'bytes') return `< ./${file}`
  if (kind !== 'multipart') return text
  const lines = parts.flatMap((part) => {
    const head = `Content-Disposition: form-data; name="${part.name}"`
    const shown =
      'file' in part
        ? [`${head}; filename="${part.file}"`, `Content-Type: ${part.mediaType}`, '', `< ./${part.file}`]
        : [head, '', part.text]
    return [`--${boundary}`, ...shown]
  })
  return [...lines, `--${boundary}--`].join('\n')
}

function variableOf(document: Document, scheme: string): { variable: string; place: string; text: string } | undefined {
  const credential = credentialOf(document, scheme)
  if (credential === undefined) return undefined
  const { in: place, name, prefix } = credential
  const variable = scheme.replace(/\W/g, '_')
  return { variable, place, text: `${name}${place === 'header' ? ': ' : '='}${prefix}{{${variable}}}` }
}

/** Returns whether an example request includes a parameter. */
export const isShown = (parameter: Parameter): boolean =>
  parameter.required === true || 'example' in holderOf(parameter) || 'examples' in holderOf(parameter)

/** Returns the pairs of name and value that send a parameter with an example value. */
export const shownPairs = (parameter: Parameter, value: unknown): ParameterPair[] =>
  parameterPairs({ ...parameterStyle(parameter), in: parameter.in, name: parameter.name }, value)
