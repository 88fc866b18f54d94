import type { ExampleBody, ExamplePart } from '../compile/example-bodies.ts'
import { literal, quotedName, stringLiteral } from '../compile/source-text.ts'
import { stringifyJson } from '../json/stringify-json.ts'

/** The number of columns of a line in the samples of the docs page. */
export const sampleWidth = 56

/** A body in a sample: the statements before the call, and the value in the call. */
export type BodySample = { lines: string[]; body: unknown }

/** A placeholder in a literal for the variable that the statements declare. */
const variable = '{{body}}'

/** Returns a literal with the variable `body` in place of its placeholder. */
export const withVariable = (text: string): string => text.replace(`body: '${variable}'`, 'body')

const blob = (file: string, mediaType: string): string =>
  `new Blob([${stringLiteral(`the bytes of ${file}`)}], { type: ${stringLiteral(mediaType)} })`

const blobSample = ({ file, mediaType }: ExampleBody): BodySample => ({
  lines: [`const body = ${blob(file, mediaType)}`],
  body: variable,
})

/** Returns a body for the generated client; `exact` is its value with each int64 as a bigint. */
export function clientBody(exact: unknown, sent: ExampleBody): BodySample {
  const { kind, parts } = sent
  if (kind === 'bytes') return blobSample(sent)
  if (kind !== 'multipart') return { lines: [], body: kind === 'text' ? sent.text : exact }
  const members = [...new Set(parts.map(({ name }) => name))].map((name) => {
    const value = (exact as Record<string, unknown>)[name]
    const files = parts.flatMap((part) => (part.name === name && 'file' in part ? blob(part.file, part.mediaType) : []))
    const text = Array.isArray(value) ? `[${files.join(', ')}]` : files[0]
    return `  ${quotedName(name)}: ${files.length > 0 ? text : literal(value, sampleWidth, '  ')},`
  })
  return { lines: ['const body = {', ...members, '}'], body: variable }
}

const partValue = (part: ExamplePart): string =>
  'file' in part ? blob(part.file, part.mediaType) : stringLiteral(part.text)

/** Returns a body for `fetch`: as text if possible, because JavaScript numbers round an int64. */
export function fetchBody(exact: unknown, sent: ExampleBody): BodySample {
  const { kind, text, parts } = sent
  if (kind === 'bytes') return blobSample(sent)
  if (kind !== 'multipart') return { lines: [], body: kind === 'json' ? stringifyJson(exact) : text }
  const appended = parts.map((part) => {
    const name = 'file' in part ? `, ${stringLiteral(part.file)}` : ''
    return `body.append(${stringLiteral(part.name)}, ${partValue(part)}${name})`
  })
  return { lines: ['const body = new FormData()', ...appended], body: variable }
}
