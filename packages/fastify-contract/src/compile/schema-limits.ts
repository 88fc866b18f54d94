import { numbersOf } from './schema-parts.ts'
import type { Node } from './walk-document.ts'

/** The keywords for the lower and the upper limit of values of each type. */
const limits: Record<string, [low: string, high: string]> = {
  string: ['minLength', 'maxLength'],
  array: ['minItems', 'maxItems'],
  object: ['minProperties', 'maxProperties'],
  integer: ['minimum', 'maximum'],
  number: ['minimum', 'maximum'],
}

/** Returns the reason why no value of a type is within the limits of all of the schemas; undefined if there is none. */
export function limitProblem(schemas: Node[], type: string): string | undefined {
  const [least, most] = limits[type] ?? ['', '']
  const low = Math.max(...numbersOf(schemas, least))
  const high = Math.min(...numbersOf(schemas, most))
  if (low > high) return `${least} ${low} is above ${most} ${high}`
  if (least !== 'minimum') return undefined
  const above = Math.max(...numbersOf(schemas, 'exclusiveMinimum'))
  const below = Math.min(...numbersOf(schemas, 'exclusiveMaximum'))
  if (above >= high || above >= below || low >= below) return 'its exclusive limits leave no number'
  if (type === 'number') return undefined
  const first = Math.max(Math.ceil(low), Math.floor(above) + 1)
  const last = Math.min(Math.floor(high), Math.ceil(below) - 1)
  return first > last ? 'its limits leave no integer' : undefined
}
