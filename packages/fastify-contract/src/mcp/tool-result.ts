import type { ResponseSchemaNode } from '../client/exact-client.ts'
import { kindOf } from '../contract/media-types.ts'
import { exactValueOf } from '../json/json-document.ts'
import { parseJson } from '../json/parse-json.ts'
import { stringifyJson } from '../json/write-json.ts'
import type { ToolResult } from './protocol.ts'
import type { OperationTool } from './tool-table.ts'

/** The parts of a response that a result has. */
type OperationResponse = { statusCode: number; payload: string; headers: Record<string, unknown> }

/** Integers below this have at most 20 digits. A number that may be an int64 can be larger. */
const maxDigits = 1e20

/** Returns the result of a tool from the response of its operation. */
export function toolResult(
  { outputSchema, outputRoot }: Pick<OperationTool, 'outputSchema' | 'outputRoot'>,
  nodes: ResponseSchemaNode[],
  { statusCode, payload, headers }: OperationResponse,
): ToolResult {
  const isError = statusCode >= 400
  const text = isError || payload === '' ? `HTTP ${statusCode} ${payload}`.trim() : payload
  if (isError || outputSchema === undefined || kindOf(String(headers['content-type'])) !== 'json')
    return { text, isError }
  return { text, isError, structured: outputRoot === undefined ? payload : withDigits(payload, nodes, outputRoot) }
}

/** Returns a JSON text with a string of digits for each int64, so that clients do not round it. */
function withDigits(text: string, nodes: ResponseSchemaNode[], root: number): string {
  const document = parseJson(text)
  return stringifyJson(converted(document, 'value', root)) as string

  function converted(holder: object, key: string | number, index: number | null | undefined): unknown {
    const value = (holder as Record<string | number, unknown>)[key]
    const node = nodes[index ?? -1]
    if (typeof value === 'number') {
      const number = exactValueOf(document, holder, key, value)
      return node?.int64 && Number.isInteger(value) && Math.abs(value) < maxDigits ? String(number) : number
    }
    if (typeof value !== 'object' || value === null) return value
    const below = (inner: string | number) => {
      const { members = {}, others } = { ...node }
      return converted(value, inner, Object.hasOwn(members, inner) ? members[inner] : others)
    }
    if (Array.isArray(value)) return value.map((_, inner) => below(inner))
    return Object.fromEntries(Object.keys(value).map((inner) => [inner, below(inner)]))
  }
}
