/** A Content-Type (RFC 9110 section 8.3): media type in lower case, and parameters by name in lower case. */
export type ContentType = { essence: string; parameters: Map<string, string> }

const essenceGrammar = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+/

/** Returns whether a text is a media type without parameters. */
export const isEssence = (text: string): boolean => essenceGrammar.exec(text)?.[0] === text

/** Matches one parameter at a time, so that parsing takes linear time. */
const parameterGrammar = /[ \t]*;[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=(?:([\w!#$%&'*+.^`|~-]+)|"((?:[^"\\]|\\[\t -~])*)"))?/y

/** Characters: no media type needs more, and each parameter costs a microsecond. */
const maxLength = 1_000

/** Parses a Content-Type. Returns undefined for a text that is malformed, too long, or repeats a parameter. */
export function parseContentType(text: string): ContentType | undefined {
  const [essence] = text.length > maxLength ? [] : (essenceGrammar.exec(text) ?? [])
  if (essence === undefined) return undefined
  const parameters = new Map<string, string>()
  const rest = text.slice(essence.length)
  let end = 0
  parameterGrammar.lastIndex = 0
  for (;;) {
    const [, name, token, quoted] = parameterGrammar.exec(rest) ?? []
    if (parameterGrammar.lastIndex === 0) break
    end = parameterGrammar.lastIndex
    if (name === undefined) continue
    const key = name.toLowerCase()
    if (parameters.has(key)) return undefined
    parameters.set(key, token ?? (quoted as string).replace(/\\(.)/g, '$1'))
  }
  return /^[ \t]*$/.test(rest.slice(end)) ? { essence: essence.toLowerCase(), parameters } : undefined
}
