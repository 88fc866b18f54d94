import type { HTTPMethods } from 'fastify'

/** A request of a file, as `inject` takes it, with its name. */
export type Sent = {
  name: string | undefined
  method: HTTPMethods
  url: string
  headers: Record<string, string>
  payload: string
}

/** Parses a request file as editors do, and replaces the values of its variables. */
export function parseRequestFile(text: string, values: Record<string, string>): Sent[] {
  const [head = '', ...parts] = text.split(/^###.*\n/m)
  const variables = Object.fromEntries(
    Array.from(head.matchAll(/^@(\w+) = (.*)$/gm), ([, name, value]) => [name, value]),
  )
  return parts.map((part) => {
    const filled = part.replace(/\{\{(\w+)\}\}/g, (_all, name) => ({ ...variables, ...values })[name] ?? 'unknown')
    const [top = '', payload = ''] = filled.trimEnd().split('\n\n')
    const lines = top.split('\n').filter((line) => !line.startsWith('#'))
    const folded = lines
      .join('\n')
      .replace(/\n {4}/g, '')
      .split('\n')
    const [method, target = ''] = String(folded.shift()).split(' ')
    const headers = Object.fromEntries(folded.map((line) => line.split(/: (.*)/).slice(0, 2)))
    const [, name] = /^# @name (.*)$/m.exec(part) ?? []
    return {
      name,
      method: method as HTTPMethods,
      url: target.replace(variables.origin as string, ''),
      headers,
      payload,
    }
  })
}
