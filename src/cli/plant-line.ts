import type { JsonDocument, Operation, Routes } from 'fastify-contract'
import { createValidator, decodeJson, JsonError, parseJson, stringifyJson } from 'fastify-contract'
import type { components, operations } from '../../generated/api.d.ts'
import generated from '../../generated/routes.json' with { type: 'json' }
import { toStored } from '../handlers.ts'
import type { StoredPlant } from '../store/plant-store.ts'

const routes = generated as unknown as Routes
type NewPlant = components['schemas']['NewPlant']
type Body = NonNullable<Operation['schema']['body']>

const operationId: keyof operations = 'createPlant'

/**
 * Returns a parser of lines, which applies the rules for a body of POST /plants. It returns the plant, or why the line
 * is invalid.
 */
export function plantParser(): (line: Buffer) => StoredPlant | string {
  const operation = routes.operations.find((each) => each.operationId === operationId) as Operation
  const [content] = Object.values((operation.schema.body as Body).content) as [Body['content'][string]]
  const validate = createValidator(routes.schemas).request(content.schema, 'plant')
  return (line) => {
    const document = parse(line)
    if (document instanceof JsonError) return `not JSON: ${document.message}`
    const result = validate(document)
    if ('error' in result) return result.error.message
    return toStored(result.value as NewPlant)
  }
}

function parse(line: Buffer): JsonDocument | JsonError {
  try {
    return parseJson(decodeJson(line))
  } catch (error) {
    return error as JsonError
  }
}

/** Control characters that a terminal may interpret and that JSON does not require to be escaped. */
const controls = /[\u007f-\u009f]/g

/** Formats a plant as a line of JSON with its line feed. */
export const formatPlantLine = ({ id, name, tag }: NewPlant): string =>
  `${stringifyJson({ id, name, tag })?.replace(controls, (control) => `\\u00${control.charCodeAt(0).toString(16)}`)}\n`

/** A line of a file with its number, counted from 1. `bytes` is undefined for a line above the limit. */
export type NumberedLine = { number: number; bytes: Buffer | undefined }

const lineFeed = 0x0a

/** Yields the lines completed by each chunk of a stream. `limit` is in bytes; no more of a line is held in memory. */
export async function* readLines(chunks: AsyncIterable<Buffer>, limit: number): AsyncGenerator<NumberedLine[]> {
  let number = 0
  let parts: Buffer[] = []
  let size = 0

  const add = (part: Buffer) => {
    size += part.length
    if (size <= limit) parts.push(part)
    else parts = []
  }
  const finishLine = (): NumberedLine => {
    const bytes = size > limit ? undefined : parts.length === 1 ? parts[0] : Buffer.concat(parts)
    parts = []
    size = 0
    return { number: ++number, bytes }
  }

  for await (const chunk of chunks) {
    const lines: NumberedLine[] = []
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      add(chunk.subarray(start, end))
      lines.push(finishLine())
      start = end + 1
    }
    if (start < chunk.length) add(chunk.subarray(start))
    yield lines
  }
  if (size > 0) yield [finishLine()]
}
