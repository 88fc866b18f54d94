import { exampleOf } from '../generate/example-values.ts'
import { exampleBody, exampleReply, hasExample } from '../generate/examples.ts'
import { type Document, type Endpoint, type Header, locate, type Response } from '../generate/openapi-document.ts'

/** A preference with a value (RFC 7240 section 2), before its parameters. */
const preference = /(?:^|,)[ \t]*([\w-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]+))/g

/**
 * Returns the reply that a request prefers with `code=STATUS` and `example=NAME`, among those of its operation, with the
 * headers that the document shows and Preference-Applied. Returns undefined when there is none: such a preference is
 * ignored, as RFC 7240 has it.
 */
export function preferredReply(document: Document, endpoint: Endpoint, prefer: string) {
  const given = Array.from(prefer.matchAll(preference), ([, name = '', quoted, token = '']) => [
    name.toLowerCase(),
    quoted?.replace(/\\(.)/g, '$1') ?? token,
  ])
  // The first of one name counts.
  const { code = '', example = '' } = Object.fromEntries(given.reverse())
  const coded = /^[2-5]\d\d$/.test(code) ? responseOf(endpoint, code) : undefined
  const usual = exampleReply(document, endpoint)
  const status = coded === undefined ? usual.status : Number(code)
  const response = coded ?? responseOf(endpoint, String(status))
  const isNamed = response !== undefined && hasExample(response, example)
  const applied = [...(coded === undefined ? [] : [`code=${code}`]), ...(isNamed ? [`example=${example}`] : [])]
  if (response === undefined || applied.length === 0) return undefined
  return {
    status,
    body: exampleBody(document, response, example),
    headers: { ...exampleHeaders(document, response), 'preference-applied': applied.join(', ') },
  }
}

/** Returns the response of a status: its own, that of its range, or the default one. */
const responseOf = ({ responses }: Endpoint, code: string): Response | undefined =>
  responses[code] ?? responses[`${code[0]}XX`] ?? responses.default

function exampleHeaders(document: Document, { headers = {} }: Response): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers as Record<string, Header & { $ref?: string; example?: unknown }>).map(([name, header]) => {
      const { schema = {}, example } = header.$ref === undefined ? header : locate<typeof header>(document, header.$ref)
      return [name, String(example ?? exampleOf(document, schema))]
    }),
  )
}
