import { plain } from './values.js'

/** Returns what a call of an operation needs, from the document and a case. */
export function requestOf(document, each, convert) {
  const { method, path, operation } = find(document, each.operation)
  const given = plain(each.arguments ?? {}, convert)
  const parts = { path: {}, query: {}, header: {}, cookie: {} }
  const parameters = operation.parameters ?? []
  for (const { in: location, name } of parameters) if (name in given) parts[location][name] = given[name]
  const [mediaType] = each.mediaType ? [each.mediaType] : Object.keys(operation.requestBody?.content ?? {})
  return {
    method: method.toUpperCase(),
    path,
    parts,
    parameters,
    given,
    ...('body' in each && { body: plain(each.body, convert), mediaType }),
    security: operation.security ?? [],
    credentials: each.credentials ?? {},
    accepts: Object.keys(Object.values(operation.responses)[0].content ?? {}),
  }
}

function find(document, operationId) {
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods))
      if (operation.operationId === operationId) return { method, path, operation }
  throw new Error(`the document has no ${operationId}`)
}

/** Returns the headers and query parameters of credentials, for clients that leave them to their users. */
export function credentialsOf({ bearer, basic, keyHeader, keyQuery, keyCookie }) {
  return {
    headers: {
      ...(bearer && { Authorization: `Bearer ${bearer}` }),
      ...(basic && { Authorization: `Basic ${btoa(`${basic.username}:${basic.password}`)}` }),
      ...(keyHeader && { 'X-Api-Key': keyHeader }),
      ...(keyCookie && { Cookie: `api_key=${keyCookie}` }),
    },
    query: keyQuery ? { api_key: keyQuery } : {},
  }
}

/** Returns a form of the members of a body, as users write it. */
export function formData(body) {
  const form = new FormData()
  for (const [name, value] of Object.entries(body))
    for (const item of Array.isArray(value) ? value : [value])
      form.append(name, item instanceof Blob || typeof item !== 'object' ? item : jsonPart(item))
  return form
}

const jsonPart = (value) => new Blob([JSON.stringify(value)], { type: 'application/json' })

/** Returns a body of JSON Lines. */
export const jsonLines = (items) => items.map((item) => `${JSON.stringify(item)}\n`).join('')

/** Returns the path of a request with the values in their styles, and its query, as a careful user writes them. */
export function handWritten({ path, parameters, parts, credentials }) {
  const query = new URLSearchParams()
  let target = path
  for (const parameter of parameters) {
    const { in: location, name } = parameter
    const value = parts[location]?.[name]
    if (value === undefined) continue
    if (location === 'path') target = target.replace(`{${name}}`, pathText(parameter, value))
    if (location === 'query') for (const [key, text] of queryPairs(parameter, value)) query.append(key, text)
  }
  for (const [name, value] of Object.entries(credentialsOf(credentials).query)) query.append(name, value)
  return { target, query }
}

/** Returns the headers of a request with lists and objects in their style, its cookies and its credentials. */
export function handWrittenHeaders({ parameters, parts, credentials }) {
  const headers = {}
  const cookies = []
  for (const parameter of parameters) {
    const { in: location, name, content, explode = location === 'cookie' } = parameter
    const value = parts[location]?.[name]
    if (value === undefined) continue
    if (location === 'header') headers[name] = content ? JSON.stringify(value) : simple(value, explode, String)
    if (location !== 'cookie') continue
    if (!explode || typeof value !== 'object') cookies.push([name, simple(value, false, encodeURIComponent)])
    else if (Array.isArray(value)) cookies.push(...value.map((item) => [name, encodeURIComponent(item)]))
    else cookies.push(...Object.entries(value).map(([key, item]) => [key, encodeURIComponent(item)]))
  }
  const cookie = cookies.map((pair) => pair.join('=')).join('; ')
  return { ...headers, ...(cookie !== '' && { Cookie: cookie }), ...credentialsOf(credentials).headers }
}

function pathText({ name, style = 'simple', explode = false }, value) {
  const isList = typeof value === 'object'
  if (style === 'simple') return simple(value, explode, encodeURIComponent)
  const [first, separator] = style === 'label' ? ['.', '.'] : [';', ';']
  if (!isList || !explode) {
    const text = simple(value, false, encodeURIComponent)
    return style === 'label' ? `.${text}` : `;${name}=${text}`
  }
  const items = Array.isArray(value)
    ? value.map((item) => (style === 'label' ? '' : `${name}=`) + encodeURIComponent(item))
    : Object.entries(value).map((pair) => pair.map(encodeURIComponent).join('='))
  return first + items.join(separator)
}

function simple(value, explode, encode) {
  if (Array.isArray(value)) return value.map(encode).join(',')
  if (typeof value !== 'object') return encode(value)
  return Object.entries(value)
    .map((pair) => pair.map(encode).join(explode ? '=' : ','))
    .join(',')
}

function queryPairs({ name, style = 'form', explode = style === 'form', content }, value) {
  if (content) return [[name, JSON.stringify(value)]]
  if (typeof value !== 'object') return [[name, String(value)]]
  if (style === 'deepObject')
    return Object.entries(value).flatMap(([key, item]) => bracketPairs(`${name}[${key}]`, item))
  if (explode) return Array.isArray(value) ? value.map((item) => [name, item]) : Object.entries(value)
  const separator = { form: ',', spaceDelimited: ' ', pipeDelimited: '|' }[style]
  return [[name, (Array.isArray(value) ? value : Object.entries(value).flat()).join(separator)]]
}

function bracketPairs(name, value) {
  if (typeof value !== 'object') return [[name, String(value)]]
  return Object.entries(value).flatMap(([key, item]) =>
    bracketPairs(Array.isArray(value) ? `${name}[]` : `${name}[${key}]`, item),
  )
}

/** Returns the body of a request as `fetch` takes it, and its media type. */
export function handWrittenBody({ body, mediaType }) {
  if (mediaType === undefined || body === undefined) return {}
  const type = { 'Content-Type': mediaType }
  if (mediaType.startsWith('multipart/')) return { body: formData(body), headers: {} }
  if (mediaType.includes('json') && !mediaType.includes('jsonl'))
    return { body: JSON.stringify(body, exactly), headers: type }
  if (mediaType === 'application/jsonl') return { body: jsonLines(body), headers: type }
  if (mediaType === 'application/octet-stream') return { body: Buffer.from(body, 'base64'), headers: type }
  if (mediaType.startsWith('text/')) return { body, headers: type }
  return { body: formFields(body), headers: type }
}

/** Keeps the digits of a bigint, in Node 22 and newer. */
const exactly = (_name, value) => (typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value)

/** Returns the fields of a URL-encoded form. */
export const formFields = (body) =>
  new URLSearchParams(
    Object.entries(body).flatMap(([name, value]) => [value].flat().map((item) => [name, String(item)])),
  )

/** A reviver of JSON.parse that keeps the digits of an integer, in Node 22 and newer. */
export const exactIntegers = (_name, value, { source } = {}) => (/^-?\d{16,}$/.test(source) ? BigInt(source) : value)

/** Parses a body by its media type, as a careful user does. */
export function parsed(text, contentType, reviver) {
  if (text === '') return undefined
  const type = contentType ?? ''
  if (type.includes('jsonl'))
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  if (type.includes('json')) return JSON.parse(text, reviver)
  if (!type.startsWith('text/event-stream')) return text
  return Array.from(text.matchAll(/^data: ?(.*)$/gm), ([, data]) => JSON.parse(data))
}
