import { isDeepStrictEqual } from 'node:util'
import { limitProblem } from './schema-limits.ts'
import { commonTypes } from './schema-parts.ts'
import { typeOfValue } from './schema-types.ts'
import { isNode, type Node } from './walk-document.ts'

/** The reason for a schema that is false or refers to one. */
export const nothingAllowed = 'nothing is allowed there'

/** Returns the reason why no value satisfies all of the schemas, by their own keywords; undefined if there is none. */
export function conflictReason(schemas: Node[]): string | undefined {
  if (schemas.some(({ not }) => isNode(not) && Object.keys(not).length === 0)) return nothingAllowed
  const types = commonTypes(schemas)
  if (types?.length === 0) return 'its types exclude each other'
  const lists = schemas.flatMap(({ const: value, enum: values }) => [
    ...(value === undefined ? [] : [[value]]),
    // An empty enum is not valid: the compilation of the schema reports it.
    ...(Array.isArray(values) && values.length > 0 ? [values] : []),
  ])
  const [first, ...others] = lists
  const allowed = first?.filter((value) => others.every((list) => list.some((one) => isDeepStrictEqual(one, value))))
  if (allowed?.length === 0) return `${lists.map((list) => JSON.stringify(list)).join(' and ')} have no value in common`
  const isTyped = (value: unknown) => types === undefined || types.some((type) => isOfType(value, type))
  if (allowed?.every((value) => !isTyped(value)))
    return `${JSON.stringify(allowed)} contains no value of the allowed types`
  return types?.length === 1 ? limitProblem(schemas, types[0] as string) : undefined
}

const isOfType = (value: unknown, type: string): boolean =>
  type === 'integer' ? Number.isInteger(value) : type === typeOfValue(value)
