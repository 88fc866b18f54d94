/**
 * Elements that are allowed without attributes: they only format text, and Markdown has no notation for some of them.
 */
const elements = ['b', 'br', 'code', 'em', 'i', 'kbd', 'strong', 'sub', 'sup']
const element = RegExp(`</?(?:${elements.join('|')})[ \\t]*/?>`, 'iy')
const autolink = /<(?:https?:\/\/|mailto:)[^\s<>`]*>/iy
const anyTag = /<[a-z/!?][^\s>]*>?/iy

/** Matches a link from the bracket after its text: a destination with at most one pair of parentheses, and a title. */
const link = /\]\([ \t]*([^\s()<>`\\]*(?:\([^\s()<>`\\]*\)[^\s()<>`\\]*)?)(?:[ \t]+"[^"`<\\]*")?[ \t]*\)/y
const definition = /\]:\s*(\S*)/y
const codeSpan = /(?<!`)(`+)(?!`)[^|]*?[^`|]\1(?!`)/y
const escaped = /\\[\\`]/y

/** Matches the first line of fenced code. */
const fence = /^(`{3,}|~{3,})[\w-]*[ \t]*$/

/** Matches the marks of quotes and lists before the text of a block in its first line. */
const blockMarks = /^(?:[\s>]|[-+*]\s|\d+[.)]\s)*$/

/**
 * Returns a message for each place of a Markdown text that could do more in a page than show text: raw HTML, links that
 * do not lead to a web page, and Markdoc tags, which Redoc also turns into elements. HTML is allowed only in code
 * that every Markdown parser recognizes as code.
 */
export function markdownProblems(text) {
  if (text.includes('{%')) return ['{% begins a tag of Markdoc; write { % instead']
  return problemsOf(text, { hasCode: true }) ?? problemsOf(text, { hasCode: false })
}

/** Returns the problems of a text. With `hasCode` it skips code; returns undefined if parsers may disagree about it. */
function problemsOf(text, { hasCode }) {
  // Markdoc ignores front matter, the lines between two such marks at the start.
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

/** Returns the problems of a line, parsed from left to right as in CommonMark 0.31 (section 6.1). */
function problemsOfLine(line, hasCode) {
  if (hasCode && /```|~~~/.test(line)) return undefined
  const problems = []
  for (let at = 0; at < line.length; ) {
    const find = (pattern) => {
      pattern.lastIndex = at
      return pattern.exec(line)
    }
    let found = hasCode ? (find(escaped) ?? find(codeSpan)) : null
    // A code span or a link definition may continue on the next line.
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
  `raw HTML ${tag} is not allowed; write Markdown, &lt; for <, or code between backticks of one line. ` +
  `Allowed are, without attributes and not at the start of a line: ${elements.join(', ')}`

/** Returns a message for the destination of a link unless it is certainly a web page or a mail address. */
export function destinationProblems(destination) {
  const [, scheme = 'https'] = /^([^/?#]*?):/.exec(destination) ?? []
  if (/^(https?|mailto)$/i.test(scheme) && !/&[^;]*;|\\/.test(destination)) return []
  return [
    `a link to ${destination} is not allowed; use https:, http:, mailto: or a relative URL, without entities and backslashes`,
  ]
}
