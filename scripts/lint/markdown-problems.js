/** Elements that a text may hold, without attributes: they only format it, and Markdown has no notation for some. */
const elements = ['b', 'br', 'code', 'em', 'i', 'kbd', 'strong', 'sub', 'sup']
const element = RegExp(`</?(?:${elements.join('|')})[ \\t]*/?>`, 'iy')
const autolink = /<(?:https?:\/\/|mailto:)[^\s<>`]*>/iy
const anyTag = /<[a-z/!?][^\s>]*>?/iy

/** A link, from the bracket that ends its text: its destination, with at most one pair of parentheses, and its title. */
const link = /\]\([ \t]*([^\s()<>`\\]*(?:\([^\s()<>`\\]*\)[^\s()<>`\\]*)?)(?:[ \t]+"[^"`<\\]*")?[ \t]*\)/y
const definition = /\]:\s*(\S*)/y
const codeSpan = /(?<!`)(`+)(?!`)[^|]*?[^`|]\1(?!`)/y
const escaped = /\\[\\`]/y

/** The first line of fenced code. */
const fence = /^(`{3,}|~{3,})[\w-]*[ \t]*$/

/** All that is before the text of a block in its first line: the marks of quotes and lists. */
const blockMarks = /^(?:[\s>]|[-+*]\s|\d+[.)]\s)*$/

/**
 * Returns a message for each place of a Markdown text that could do more in a page than show text: raw HTML, tags of
 * Markdoc, from which Redoc makes elements too, and links that are not to a web page. Only code that every parser of
 * Markdown takes for code may hold HTML.
 */
export function markdownProblems(text) {
  if (text.includes('{%')) return ['{% begins a tag of Markdoc; write { % instead']
  return problemsOf(text, { hasCode: true }) ?? problemsOf(text, { hasCode: false })
}

/** Returns the problems of a text; undefined when code counts and parsers may differ about where it is. */
function problemsOf(text, { hasCode }) {
  // Markdoc ignores what is between two such lines at the start.
  if (hasCode && text.startsWith('---')) return undefined
  const problems = []
  let open
  for (const line of text.split(/\r\n?|\n/)) {
    const mark = hasCode ? fence.exec(line)?.[1] : undefined
    if (open !== undefined) {
      if (mark?.startsWith(open) && line.trimEnd() === mark) open = undefined
      else if (/^\s*(```|~~~)/.test(line)) return undefined
    } else if (mark !== undefined) {
      open = mark
    } else {
      const found = problemsOfLine(line, hasCode)
      if (found === undefined) return undefined
      problems.push(...found)
    }
  }
  return open === undefined ? problems : undefined
}

/** Reads a line from left to right, as CommonMark 0.31 does (section 6.1). */
function problemsOfLine(line, hasCode) {
  if (hasCode && /```|~~~/.test(line)) return undefined
  const problems = []
  for (let at = 0; at < line.length; ) {
    const find = (pattern) => {
      pattern.lastIndex = at
      return pattern.exec(line)
    }
    let found = hasCode ? (find(escaped) ?? find(codeSpan)) : null
    // Code that ends in another line, or a definition of a link that does.
    if (hasCode && found === null && (line[at] === '`' || line.startsWith(']:', at))) return undefined
    if (line.startsWith('](', at)) {
      found = find(link)
      problems.push(...(found === null ? [unreadableLink] : destinationProblems(found[1])))
    } else if (line.startsWith(']:', at)) {
      problems.push(...destinationProblems(find(definition)[1]))
    } else if (line[at] === '<') {
      found = find(autolink) ?? (blockMarks.test(line.slice(0, at)) ? null : find(element))
      const refused = found === null ? find(anyTag) : null
      if (refused !== null) problems.push(rawHtml(refused[0]))
    }
    at += found?.[0].length ?? 1
  }
  return problems
}

const unreadableLink = 'a link has no plain destination; write it in one line as [text](https://example.com/path)'

const rawHtml = (tag) =>
  `raw HTML ${tag}; write Markdown, &lt; for <, or code between backticks of one line. ` +
  `Allowed are, without attributes and not at the start of a line: ${elements.join(', ')}`

/** Returns a message for the destination of a link when it could be anything but a web page or a mail address. */
export function destinationProblems(destination) {
  const [, scheme = 'https'] = /^([^/?#]*?):/.exec(destination) ?? []
  if (/^(https?|mailto)$/i.test(scheme) && !/&[^;]*;|\\/.test(destination)) return []
  return [`a link to ${destination}; use https:, http:, mailto: or a relative URL, without entities and backslashes`]
}
