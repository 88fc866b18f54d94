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
