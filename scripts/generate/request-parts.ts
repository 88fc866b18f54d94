import { exampleOfContent, type WithExample } from './examples.ts'
import { resolve } from './json-pointer.ts'
import type { Document, Endpoint, Parameter } from './openapi-document.ts'
import { filledPath, pairText, parameterPairs } from './parameter-pairs.ts'

/** A request with the values of the document's examples. A credential is a variable with the name of its scheme: {{bearer}}. */
export type RequestParts = {
  path: string
  /** Each "name=value", percent-encoded. */
  query: string[]
  /** Each "name: value". */
  headers: string[]
  body: { value: unknown } | undefined
  /** The variables of its credentials. */
  variables: string[]
}

type Scheme = { type: string; scheme?: string; in?: string; name?: string }

/**
 * Returns the request of an operation as the document shows it: with the first example of its body, of each required
 * parameter, and of each optional parameter that has one, and with what its first security requirement asks for.
 */
export function requestParts(
  document: Document,
  { routes, parameters, requestBody, security }: Endpoint,
): RequestParts {
  const shown = parameters.filter(
    (parameter) => parameter.required || 'example' in parameter || 'examples' in parameter,
  )
  const pairs = (place: Parameter['in']) =>
    shown
      .filter((parameter) => parameter.in === place)
      .flatMap((parameter) => parameterPairs(parameter, exampleOfContent(document, parameter as WithExample)))
  const credentials = Object.keys(security[0] ?? {}).map((name) => credentialOf(document, name))
  const placed = (place: string) => credentials.filter((one) => one.place === place).map(({ text }) => text)
  const cookies = [...pairs('cookie').map(pairText), ...placed('cookie')]
  const [content] = Object.entries(requestBody?.content ?? {})
  return {
    path: filledPath(routes[0] as string, pairs('path')),
    query: [...pairs('query').map(pairText), ...placed('query')],
    headers: [
      ...placed('header'),
      ...pairs('header').map(([name, value]) => `${name}: ${value}`),
      ...(cookies.length > 0 ? [`Cookie: ${cookies.join('; ')}`] : []),
      ...(content === undefined ? [] : [`Content-Type: ${content[0]}`]),
    ],
    body: content && { value: exampleOfContent(document, content[1]) },
    variables: credentials.map(({ variable }) => variable),
  }
}

function credentialOf(document: Document, name: string): { variable: string; place: string; text: string } {
  const scheme = resolve(document, `#/components/securitySchemes/${name}`) as Scheme
  const variable = name.replace(/\W/g, '_')
  const value = `{{${variable}}}`
  if (scheme.type !== 'apiKey') {
    const text = `Authorization: ${scheme.scheme?.toLowerCase() === 'basic' ? 'Basic' : 'Bearer'} ${value}`
    return { variable, place: 'header', text }
  }
  const text = scheme.in === 'header' ? `${scheme.name}: ${value}` : `${scheme.name}=${value}`
  return { variable, place: String(scheme.in), text }
}
