/** The parameters of a call by their places. */
export type CallParameters = Partial<Record<'path' | 'query' | 'header', Record<string, unknown>>>

/**
 * Returns the path and query of a call. A list in the query is one parameter for each item, which is OpenAPI's default
 * (3.1 section 4.8.12); what is undefined is left out. Throws when the path would lead elsewhere.
 */
export function requestTarget(template: string, { path = {}, query = {} }: CallParameters): string {
  const target = template.replace(/\{([^}]+)\}/g, (_, name) => encode(path[name]))
  // A URL cannot hold such a part, however it is encoded.
  if (/\/\.{1,2}(\/|$)/.test(target)) throw new TypeError(`${template}: no part of a path can be . or ..`)
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().flatMap((item) => (item === undefined ? [] : `${encode(name)}=${encode(item)}`)),
  )
  return pairs.length === 0 ? target : `${target}?${pairs.join('&')}`
}

const encode = (value: unknown): string => encodeURIComponent(String(value))
