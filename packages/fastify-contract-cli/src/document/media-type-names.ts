import { parseContentType } from 'fastify-contract/contract'
import { isNode, type Node } from './walk-document.ts'

/** Matches the media types of RFC 9110 (sections 5.6.2, 5.6.6 and 8.3.1) and the ranges of OpenAPI. */
const mediaTypeGrammar =
  /^(?:\*\/\*|[\w!#$&^.+-]+\/(?:\*|[\w!#$&^.+-]+))(?:[ \t]*;[ \t]*[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[^"\\]*"))*$/

/** Returns a problem if a text is neither a media type nor a range of media types. */
export const nameProblem = (text: string): string | undefined =>
  mediaTypeGrammar.test(text) && parseContentType(text) !== undefined
    ? undefined
    : 'is not a media type; use one such as text/plain'

/** Returns a problem if a textual media type has a charset other than UTF-8. */
export function charsetProblem(mediaType: string, done: 'read' | 'written'): string | undefined {
  const charset = parseContentType(mediaType)?.parameters.get('charset') ?? 'utf-8'
  return charset.toLowerCase() === 'utf-8' ? undefined : `has a charset that cannot be ${done}; use utf-8`
}

/** No range of RFC 9110, but ASP.NET writes it beside application/json. */
const suffixRange = 'application/*+json'

/** A name in the content of a body that is served under other names, or not at all. */
export type CorrectedName = { name: string; served: string[]; text: string }

/**
 * Returns the names in the content of a body that are no media types, or name the charset utf8: under which names they
 * are served instead, where that is certain. Other texts are ignored beside a media type; alone they stay.
 */
export function correctedNames({ content }: Node): CorrectedName[] {
  const names = isNode(content) ? Object.keys(content).filter((name) => !/^x-[^/]*$/.test(name)) : []
  const taken = new Set<string>()
  let hasTypes = false
  for (const name of names) {
    const meant = meantBy(name)
    hasTypes ||= meant !== undefined
    if (meant?.includes(name)) taken.add(name)
  }
  const corrected: CorrectedName[] = []
  for (const name of names) {
    const meant = meantBy(name)
    if (meant?.includes(name) || (meant === undefined && !hasTypes)) continue
    const served = (meant ?? []).filter((each) => taken.size < taken.add(each).size)
    const text = served.length > 0 ? `is served as ${served.join(' and ')}; write it so` : ignored
    corrected.push({ name, served, text })
  }
  return corrected
}

const ignored = 'is not a media type, so it is ignored; name each media type'

/** Returns a media type with the charset utf-8 instead of utf8, which is another label of it (WHATWG Encoding). */
export const withHyphen = (mediaType: string): string => mediaType.replace(/(;[ \t]*charset=)("?)utf8\2$/i, '$1utf-8')

/** Returns the media types that a name certainly means: itself if it is one. */
function meantBy(name: string): string[] | undefined {
  if (name === suffixRange) return ['application/json']
  const parts = (nameProblem(name) === undefined ? [name] : name.split(/[,|]/)).map((part) =>
    withHyphen(part.trim().replace(/[ \t;]+$/, '')),
  )
  return parts.every((part) => nameProblem(part) === undefined) ? parts : undefined
}

/** Returns a body whose content has the names under which it is served. */
export function withServedNames(body: Node): Node {
  const corrected = new Map(correctedNames(body).map(({ name, served }) => [name, served]))
  if (corrected.size === 0) return body
  const content = Object.entries(body.content as Node).flatMap(([name, media]) =>
    (corrected.get(name) ?? [name]).map((served) => [served, media]),
  )
  return { ...body, content: Object.fromEntries(content) }
}

/** Returns whether a request body lists no media type, not even by a reference. */
export const hasNoTypes = ({ $ref, content = {} }: Node): boolean =>
  $ref === undefined && isNode(content) && Object.keys(content).length === 0

/** Returns a problem of the media type of a form field. The service supports no parameter other than charset. */
export function fieldTypeProblem(mediaType: string): string | undefined {
  const problem = nameProblem(mediaType) ?? charsetProblem(mediaType, 'read')
  if (problem !== undefined) return problem
  const names = [...(parseContentType(mediaType)?.parameters.keys() ?? [])]
  const other = names.find((name) => name !== 'charset')
  return other && `has the parameter ${other}, which is not supported in a form; remove it`
}
