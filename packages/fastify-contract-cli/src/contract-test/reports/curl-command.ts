import { visible } from '../../text/source-text.ts'
import { commandVariable } from '../credentials/environment-credentials.ts'
import { credentialsPlaceholder, type ShownRequest } from '../results.ts'

/** The maximum number of bytes of a body in a command. */
const maxBody = 8_192

const inQuery = new RegExp(`(?<=[?&][^=&]*=)${credentialsPlaceholder}(?=&|$)`)
const inHeader = new RegExp(`(?<=^[^:]*: (?:[A-Za-z]+ )?|=)${credentialsPlaceholder}(?=;|$)`)

/**
 * Returns a curl command in printable characters that sends a request, for a POSIX shell. Credentials are a variable.
 * Undefined if the body has more than 8,192 bytes: a command with another body could get another response.
 *
 * @param server The URL of the server, without a slash at its end.
 */
export function curlCommand({ method, target, headers, body }: ShownRequest, server: string): string | undefined {
  if (body !== undefined && body.length > maxBody) return undefined
  const text = body && inlineText(body)
  // curl would change a path with dots, and read brackets as ranges.
  const lines = [`curl -i -g --path-as-is ${verbOf(method, body)}${wordOf(server + target, inQuery)}`]
  for (const [name, value] of headers) {
    // For curl, an at sign precedes the name of a file. It sets the length and the connection itself.
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /^(?:content-length|connection|transfer-encoding)$/.test(name)) continue
    // Without the semicolon, curl leaves out a header without a value.
    lines.push(`-H ${value === '' ? wordOf(`${name};`) : wordOf(`${name}: ${value}`, inHeader, 'latin1')}`)
  }
  if (body !== undefined) {
    // curl adds the type of a form to a body without one.
    if (!headers.some(([name]) => name === 'content-type')) lines.push("-H 'content-type:'")
    lines.push(text === undefined ? '--data-binary @-' : `--data-raw ${wordOf(text)}`)
  }
  const input = body !== undefined && text === undefined ? `printf ${printfFormat(body)} | ` : ''
  return input + lines.join(' \\\n  ')
}

/** Returns the option for a method. With -X HEAD, curl would wait for a body. */
function verbOf(method: string, body: Uint8Array | undefined): string {
  if (body === undefined && method === 'GET') return ''
  return body === undefined && method === 'HEAD' ? '--head ' : `-X ${wordOf(method)} `
}

/** Returns the text of a body that an argument can carry and a line can show; undefined for any other body. */
function inlineText(body: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
    return visible(text) === text ? text : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns one word of a POSIX shell for a text, in which the variable stands for each placeholder. A character that a
 * terminal does not show is written by its bytes.
 */
function wordOf(text: string, placeholders?: RegExp, encoding: 'utf8' | 'latin1' = 'utf8'): string {
  const parts = placeholders === undefined ? [text] : text.split(placeholders)
  return parts
    .map((part) => (part === '' && parts.length > 1 ? '' : quoted(part, encoding)))
    .join(`"$${commandVariable}"`)
}

function quoted(text: string, encoding: 'utf8' | 'latin1'): string {
  const unseen = encoding === 'latin1' ? /[^ -~]+/g : /[^ -~\p{L}\p{N}\p{P}\p{S}]+/gu
  const escaped = text
    .replaceAll("'", "'\\''")
    .replace(unseen, (run) => `'"$(printf ${printfFormat(Buffer.from(run, encoding))})"'`)
  return `'${escaped}'`
}

/** Returns a format of printf, in quotes, that writes bytes. */
function printfFormat(bytes: Uint8Array): string {
  const units = Array.from(bytes, (byte, index) => {
    const character = String.fromCharCode(byte)
    // printf would take a hyphen at the beginning for an option.
    const isPlain = /[ -~]/.test(character) && !/['\\%]/.test(character) && !(index === 0 && character === '-')
    return isPlain ? character : `\\${byte.toString(8).padStart(3, '0')}`
  })
  return `'${units.join('')}'`
}
