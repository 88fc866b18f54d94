import { parameterPairs } from 'fastify-contract/client'
import { stringifyJson } from 'fastify-contract/json'
import { createValidator } from 'fastify-contract/schema'
import { parameterStyle } from '../document/call-styles.ts'
import { resolve } from '../document/json-pointer.ts'
import {
  type Document,
  type Endpoint,
  endpoints,
  type Located,
  type Parameter,
  type RequestBody,
} from '../document/openapi-document.ts'
import { holderOf, isShown, serializedParameter } from '../document/parameter-objects.ts'
import { credentialOf } from '../document/security-schemes.ts'
import { routesOf } from '../emit/route-table.ts'
import { exampleOfRequest } from '../examples/examples.ts'
import { exampleRequestBody } from '../examples/request-examples.ts'
import { validRequests } from '../examples/valid-requests.ts'
import { normalizedDocument } from '../passes/normalize.ts'
import { htmlText } from '../text/foreign-text.ts'
import { browserScript } from './browser-script.ts'
import { plainPage } from './plain-page.ts'

/**
 * Returns the page of the admin server with a form for each operation of a published document. By default `serviceUrl`
 * is a placeholder that the admin server replaces.
 */
export async function tryPage(published: Document, serviceUrl = 'SERVICE_URL'): Promise<string> {
  const document = normalizedDocument(published)
  const routes = routesOf(document)
  const valid = validRequests(document, routes, createValidator(routes.schemas))
  const all = endpoints(document).map((given) => valid(given).endpoint)
  const schemes = [...new Set(all.flatMap(schemesOf))]
  const sections = [
    '<p class="intro">Each form sends one request to the service of this process. Empty fields are not sent. Values are sent exactly as typed, and of responses only the layout of JSON is changed, so that large integers stay exact.</p>',
    ...credentials(document, schemes),
    ...all.map((endpoint, index) => operationForm(document, endpoint, `operation-${index}`, all.length === 1)),
  ]
  return plainPage(`Try ${document.info.title}`, sections.join('\n'), {
    script: await browserScript('try-operation.js'),
    serviceUrl,
  })
}

const schemesOf = ({ security }: Endpoint): string[] => [...new Set(security.flatMap(Object.keys))]

function credentials(document: Document, schemes: string[]): string[] {
  const fields: string[] = []
  for (const [index, scheme] of schemes.entries()) {
    const credential = credentialOf(document, scheme)
    if (credential === undefined) continue
    const { in: place, name, prefix } = credential
    const what = prefix === 'Basic ' ? `${name}: ${prefix}of USER:PASSWORD` : `${name}: ${prefix}`.replace(/: $/, '')
    const id = `credential-${index}`
    fields.push(`<form>
<input type="text" autocomplete="username" value="${htmlText(scheme)}" hidden>
${label(id, scheme, `${placeHint(place)}, ${what.trim()}`)}
<input id="${id}"${disabledFor(place)} type="password" autocomplete="current-password" name="${htmlText(scheme)}" data-credential="${attribute(credential)}">
<button${disabledFor(place)}>Send</button> <small>or Enter sends the open operation</small> <output></output>
</form>`)
  }
  return fields.length > 0 ? ['<section>', '<h2>Credentials</h2>', ...fields, '</section>'] : []
}

/** Browsers do not let a page send cookies of its own choice (fetch.spec.whatwg.org, forbidden request-header). */
const disabledFor = (place: string): string => (place === 'cookie' ? ' disabled' : '')
const placeHint = (place: string): string => (place === 'cookie' ? 'cookie, which a page cannot send' : place)

function operationForm(document: Document, endpoint: Endpoint, id: string, isOpen: boolean): string {
  const { method, path: key, routes, pointer, parameters, requestBody } = endpoint
  const { summary = endpoint.operationId } = resolve(document, pointer) as { summary?: string }
  const path = routes[0] as string
  return `<details id="${htmlText(method + key)}"${isOpen ? ' open' : ''}>
<summary><h2><code>${htmlText(`${method} ${path}`)}</code> ${htmlText(String(summary))}</h2></summary>
<form data-method="${htmlText(method)}" data-path="${htmlText(path)}" data-credentials="${attribute(schemesOf(endpoint))}">
<div>
${[
  ...parameters.map((parameter, index) => parameterField(document, parameter, `${id}-${index}`)),
  ...(requestBody === undefined ? [] : [bodyField(document, requestBody, `${id}-body`)]),
].join('\n')}
<button>Send</button> <small>or Ctrl+Enter</small>
</div>
<div>
<p><output></output></p>
<div class="response" hidden>
<h3>Headers</h3>
<pre tabindex="0" role="group" aria-label="Headers of the response"></pre>
<h3>Body</h3>
<pre tabindex="0" role="group" aria-label="Body of the response"></pre>
</div>
</div>
</form>
</details>`
}

/** The attribute and the hint of a field for several values, by the kind of its parameter. */
const lines: Partial<Record<string, [mark: string, hint: string]>> = {
  array: ['data-list', 'one item per line'],
  object: ['data-members', 'one NAME=VALUE per line'],
  nested: ['data-nested', 'one NAME=VALUE per line'],
}

function parameterField(document: Document, parameter: Parameter, id: string): string {
  const { in: place, name, required } = parameter
  // JSON is sent as it is typed.
  const { isJson: _, ...style } = parameterStyle(document, parameter)
  const { kind } = serializedParameter(document, '', parameter)
  const value = isShown(parameter) ? exampleOfRequest(document, holderOf(parameter)) : undefined
  const [mark, hint] = lines[kind] ?? []
  const data = `id="${id}"${disabledFor(place)} autocomplete="off" spellcheck="false" data-parameter="${attribute({ in: place, name, ...style })}"`
  const hints = [
    placeHint(place),
    ...(required ? ['required'] : []),
    ...(kind === 'json' ? ['JSON'] : []),
    ...(hint ? [hint] : []),
  ]
  const text = htmlText(value === undefined ? '' : fieldText(value, kind))
  const field =
    mark === undefined ? `<input ${data} value="${text}">` : `<textarea ${data} ${mark} rows="3">\n${text}</textarea>`
  return `${label(id, name, hints.join(', '))}\n${field}`
}

function fieldText(value: unknown, kind: string): string {
  if (kind === 'json') return String(stringifyJson(value))
  const text = (one: unknown) => (typeof one === 'string' ? one : String(stringifyJson(one)))
  if (kind === 'nested') {
    return parameterPairs({ in: 'query', name: '', style: 'deepObject' }, value)
      .map(([name, one]) => name.replace(/^\[([^\]]*)\]/, '$1') + (name === '' ? '' : '=') + decodeURIComponent(one))
      .join('\n')
  }
  if (kind !== 'object') return [value].flat().map(text).join('\n')
  return Object.entries(Object(value))
    .map(([name, one]) => `${name}=${text(one)}`)
    .join('\n')
}

function bodyField(document: Document, requestBody: Located<RequestBody>, id: string): string {
  const { kind, value, text: sent } = exampleRequestBody(document, requestBody)
  const text = kind === 'json' ? (stringifyJson(value, '  ') ?? '') : sent
  const options = Object.keys(requestBody.content).map((mediaType) => `<option>${htmlText(mediaType)}</option>`)
  return `${label(`${id}-type`, 'Content-Type')}
<select id="${id}-type" data-media-type>${options.join('')}</select>
${label(id, 'Body', kind === 'bytes' || kind === 'multipart' ? 'as text: a file cannot be sent here' : '')}
<textarea id="${id}" data-body rows="${Math.min(text.split('\n').length + 1, 20)}" autocomplete="off" spellcheck="false">
${htmlText(text)}</textarea>`
}

const label = (id: string, name: string, hint = ''): string =>
  `<label for="${id}">${htmlText(name)}${hint === '' ? '' : ` <small>${htmlText(hint)}</small>`}</label>`

const attribute = (value: object): string => htmlText(JSON.stringify(value))
