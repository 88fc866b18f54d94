import { stringifyJson } from '../../src/json/stringify-json.ts'
import type { ExampleBody, ExamplePart } from '../generate/example-bodies.ts'
import { literal, quotedName, stringLiteral } from '../generate/source-text.ts'

/** Columns of a line in the docs page's column of samples. */
export const sampleWidth = 56

/** A body in a sample: statements before the call, and what stands in it */
export type BodySample = { lines: string[]; body: unknown }

/** Stands in a literal for the variable that the statements declare. */
const variable = '{{body}}'

/** Returns a literal in which the variable of a body stands as one. */
export const withVariable = (text: string): string => text.replace(`body: '${variable}'`, 'body')

const blob = (file: string, mediaType: string): string =>
  `new Blob([${stringLiteral(`the bytes of ${file}`)}], { type: ${stringLiteral(mediaType)} })`

const blobSample = ({ file, mediaType }: ExampleBody): BodySample => ({
  lines: [`const body = ${blob(file, mediaType)}`],
  body: variable,
})

/** Returns a body as the client takes it; `exact` is its value, each int64 a bigint. */
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

/** Returns a body as `fetch` takes it: a text where there is one, because numbers of JavaScript round an int64. */
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
