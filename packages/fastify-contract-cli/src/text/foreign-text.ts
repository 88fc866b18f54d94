import { recordSeparator } from 'fastify-contract/contract'
import { escaped, lineText } from './source-text.ts'

/** Returns a text as one quoted word of a POSIX shell. */
export const shellWord = (text: string): string =>
  `'${text.replaceAll("'", `'\\''`).replace(terminalKeys, (key) => `'"$(printf '${octets(key)}')"'`)}'`

/** Characters that act as keys where a command is pasted into a terminal: ^C would end the command inside of its quotes. */
const terminalKeys = /[^\P{Cc}\n]/gu

const octets = (text: string): string =>
  Array.from(Buffer.from(text), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')

/**
 * Returns a path as one word of a shell: without quotes where none are needed, and otherwise in those that Windows knows,
 * too, if possible. A command would take a path that begins with a hyphen for an option.
 */
export function shellPath(path: string): string {
  const text = path.startsWith('-') ? `./${path}` : path
  if (/^[\w./-]+$/.test(text)) return text
  return /^[\w./ -]+$/.test(text) ? `"${text}"` : shellWord(text)
}

/** Returns a text for a paragraph, a heading or a table of Markdown. */
export const markdownText = (text: string): string => lineText(text).replace(/[\\`*_[\]<>&|~$#]/g, '\\$&')

/** Returns a text as a code span of Markdown, also within a table. */
export const markdownCode = (text: string): string => codeSpan(text.replaceAll('|', '\\|'))

/** Returns a text as a code span of Markdown outside of tables. */
export function codeSpan(text: string): string {
  const line = lineText(text)
  const fence = '`'.repeat(Math.max(0, ...Array.from(line.matchAll(/`+/g), ([run]) => run.length)) + 1)
  const space = /^`|`$/.test(line) ? ' ' : ''
  return fence + space + line + space + fence
}

/** Returns a link of Markdown to a relative path. */
export const markdownLink = (text: string, path: string): string =>
  `[${markdownText(text)}](${path.split('/').map(urlSegment).join('/')})`

const urlSegment = (segment: string): string => markdownTarget(encodeURIComponent(segment.toWellFormed()))

/** Returns a URL for the parentheses of a link in Markdown. */
export const markdownTarget = (url: string): string => url.replaceAll('(', '%28').replaceAll(')', '%29')

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Returns a text escaped for HTML, also for attribute values. */
export const htmlText = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] as string)

/** Returns a URL or a part of one in which each character that no URL contains is percent-encoded (RFC 3986). */
export const urlText = (url: string): string =>
  url.toWellFormed().replace(/[^!#-;=?-Z[\]_a-z~]/gu, (character) => encodeURIComponent(character))

/** Returns a text for the message of a workflow command of GitHub, which a line feed would end. */
export const workflowText = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

/** Returns a text for a property of a workflow command of GitHub. */
export const workflowProperty = (text: string): string =>
  workflowText(text).replaceAll(':', '%3A').replaceAll(',', '%2C')

/*
 * Request files. Editors replace {{...}} everywhere, also by JavaScript or a variable of the environment, and run {%...%}.
 * They search the whole file for variables, also the bodies, and read lines of a body that begin with certain characters
 * as comments, files, scripts, tests or the next request. No editor has an escape for any of this.
 * https://github.com/JetBrains/http-request-in-editor-spec, https://github.com/Huachao/vscode-restclient, https://httpyac.github.io
 */

/** Returns a JSON text for a request file. Only strings of JSON contain what is escaped here. */
export const requestJson = (json: string): string =>
  json.replace(/\{[{%]+|[^\P{Cc}\n]|[\u2028\u2029]/gu, (text) => Array.from(text, escaped).join(''))

/** Returns whether editors send a text of a body unchanged. Text of XML may begin with an angle bracket. */
export const isRequestText = (text: string): boolean => {
  const shown = text.replaceAll(recordSeparator, '')
  return !expanded.test(shown) && !directive.test(shown)
}

/** Returns whether editors keep a text within a line of a request file. */
export const isRequestLine = (text: string): boolean => !expanded.test(text) && !text.includes('\n')

const expanded = /\{[{%]|[^\P{Cc}\n\t]|[\u2028\u2029]/u

const directive = /^\s*(?:#|\/[/*]|@|>|<(?![\w!?/])|\?\?|```|\.\.\.|HTTP\/)/m

/** Returns a text for a title in a request file. Editors read words that begin with @ after the number signs. */
export const requestTitle = (text: string): string => requestComment(text).replace(/^[#@\s]+/, '')

/** Returns a text for a comment of a request file. */
export const requestComment = (text: string): string => requestJson(lineText(text))

/** Returns a name that a comment gives to a request, and adds it to `taken`: the names of variables and other requests. */
export function requestName(text: string, taken: Set<string>): string {
  let name = text.replace(/[^\p{L}\p{N}_.-]+/gu, '_')
  while (taken.has(name)) name += '_'
  taken.add(name)
  return name
}
