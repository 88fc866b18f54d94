import {
  createValidator,
  decodeJson,
  type JsonDocument,
  JsonError,
  type Operation,
  parseJson,
  stringifyJson,
} from 'fastify-contract'
import type { components, operations } from '../../generated/api.d.ts'
import { contract } from '../../generated/contract.mjs'
import { toStored } from '../handlers.ts'
import type { StoredPlant } from '../store/plant-store.ts'

const { routes } = contract
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
  return function parsePlant(line) {
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
