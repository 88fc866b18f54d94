import type { FastifyRequest } from 'fastify'
import { ContractError } from '../http/errors.ts'
import { type Document, type Endpoint, type Parameter, typesOf } from './document.ts'
import type { Validation } from './validator.ts'

/** The parameters of a request by their kinds, validated, by their names in the document. */
export type Parameters = Record<Parameter['in'], Record<string, unknown>>

/** What a request has of one kind: of the query and the cookies all values of a name, encoded as they were sent. */
type Given = Record<string, string | string[] | undefined>

/**
 * Takes an operation; gives the reader of its parameters, and of nothing else that a request carries. The reader throws
 * a ContractError for texts that cannot be decoded or that their schemas do not allow.
 */
export function parameterReader(document: Document, { path, parameters }: Endpoint, validation: Validation) {
  const readers = kinds.flatMap((kind) => {
    const described = parameters.filter((parameter) => parameter.in === kind)
    if (described.length === 0) return []
    return [{ kind, read: textReader(document, path, described), validate: validation.parameters(described, kind) }]
  })
  if (readers.length === 0) return () => none
  return (request: FastifyRequest): Parameters => {
    const all: Parameters = { path: {}, query: {}, header: {}, cookie: {} }
    for (const { kind, read, validate } of readers) all[kind] = validate(read(given[kind](request)))
    return all
  }
}

const none: Parameters = { path: {}, query: {}, header: {}, cookie: {} }
for (const kind of Object.values(none)) Object.freeze(kind)

const kinds = ['path', 'query', 'header', 'cookie'] as const

const given: Record<Parameter['in'], (request: FastifyRequest) => Given> = {
  path: ({ params }) => params as Given,
  query: ({ query }) => query as Given,
  header: ({ headers }) => headers,
  cookie: ({ headers }) => parseCookies(headers.cookie),
}

/** Takes the query of a request target; gives what was sent for each name, percent-encoded as it was. */
export const parseQuery = (text: string): Record<string, string[]> => parsePairs(text, '&')

/** Takes the value of a Cookie header (RFC 6265 section 4.2.1); gives what was sent for each name. */
const parseCookies = (text = ''): Record<string, string[]> => parsePairs(text, ';')

function parsePairs(text: string, separator: string): Record<string, string[]> {
  const pairs: Record<string, string[]> = {}
  for (const pair of text === '' ? [] : text.split(separator)) {
    const [encoded = '', value = ''] = pair.trim().split(/=(.*)/s)
    const name = /%|\+/.test(encoded) ? decodeName(encoded) : encoded
    if (Object.hasOwn(pairs, name)) pairs[name]?.push(value)
    // An assignment to __proto__ would set the prototype.
    else Object.defineProperty(pairs, name, { value: [value], enumerable: true })
  }
  return pairs
}

/** A name that cannot be decoded is none that a document has. */
function decodeName(encoded: string): string {
  try {
    return decode(encoded)
  } catch {
    return encoded
  }
}

/** Takes the path of an operation; gives the path of its route, whose parameters are numbered: p0, p1 and so on. */
export function routePath(path: string): string {
  let count = 0
  // A colon in a path of OpenAPI is itself.
  return path.replaceAll(':', '::').replace(/\{[^}]*\}/g, () => `:p${count++}`)
}

/** What separates the items of an array that is one text, by style (OpenAPI 3.1 section 4.8.12.3), as it is sent. */
const separators = { form: ',', spaceDelimited: /%20|\+/, pipeDelimited: /%7C|\|/i } as const

/** Gives what reads the texts of some parameters; those of the items of an array are apart. */
function textReader(document: Document, path: string, parameters: Parameter[]) {
  const names = Array.from(path.matchAll(/\{([^}]*)\}/g), ([, name]) => name)
  const readers = parameters.map((parameter) => {
    const { name, style = 'form', explode = style === 'form' } = parameter
    const isArray = typesOf(document, parameter.schema).includes('array')
    const separator = separators[style as keyof typeof separators]
    const key = { path: `p${names.indexOf(name)}`, header: name.toLowerCase(), query: name, cookie: name }[parameter.in]
    const read = (given: string | string[]): string | string[] => {
      if (typeof given === 'string') return isArray ? given.split(',').map((item) => item.trim()) : given
      const texts = isArray && !explode ? given.flatMap((text) => text.split(separator)) : given
      const [first = '', ...more] = texts.map(decode)
      return isArray || more.length > 0 ? [first, ...more] : first
    }
    return { name, key, read }
  })
  return (given: Given): Record<string, string | string[]> =>
    Object.fromEntries(
      readers.flatMap(({ name, key, read }) => {
        const text = Object.hasOwn(given, key) ? given[key] : undefined
        return text === undefined ? [] : [[name, read(text)]]
      }),
    )
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new ContractError('undecodableTarget', 'the request target cannot be decoded')
  }
}
