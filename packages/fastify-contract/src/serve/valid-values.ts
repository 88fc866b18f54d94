import { ContractError } from '../http/errors.ts'
import type { JsonDocument } from '../json/json-document.ts'
import type { SerializedValue } from './contract.ts'
import type { Validator } from './validator.ts'

type Validate = ReturnType<Validator['request']>

/** Returns the error for a request without a required body. */
export const missingBody = (): ContractError => new ContractError('invalid', 'the body is missing')

/**
 * Wraps the validation of a JSON body, which is absent without any bytes; Fastify then passes null. The JSON text `null`
 * stands for an optional body that is absent if its schema rejects null: clients written in Go send it for a nil
 * pointer.
 */
export const bodyValidator =
  (validate: Validate, isRequired = false) =>
  (document: JsonDocument | null | undefined): ReturnType<Validate> => {
    if (!document) return isRequired ? { error: missingBody() } : absent
    const result = validate(document)
    return 'error' in result && document.value === null && !isRequired ? absent : result
  }

const absent = { value: undefined }

/**
 * Returns a function that reads and validates values. A value that is invalid as a single value, or as a list, is read
 * as the other, if its schema allows both. Of a value that is invalid as either, it returns the first error.
 */
export function validReader<Given>(
  { values, part }: { values: SerializedValue[]; part: string },
  read: (given: Given, others?: ReadonlySet<string>) => JsonDocument,
  validate: Validate,
): (given: Given) => ReturnType<Validate> {
  const ambiguous = values.filter(({ scalarTypes }) => scalarTypes !== undefined).map(({ name }) => name)
  if (ambiguous.length === 0) return (given) => validate(read(given))
  return (given) => {
    let result = validate(read(given))
    const others = new Set<string>()
    // Each turn reads one more value, so a request costs at most one validation for each.
    while ('error' in result) {
      const { message } = result.error
      const name = ambiguous.find((one) => isAbout(message, `${part}/${one}`))
      if (name === undefined || others.has(name)) break
      others.add(name)
      const next = validate(read(given, others))
      if ('error' in next && isAbout(next.error.message, `${part}/${name}`)) break
      result = next
    }
    return result
  }
}

/** Returns whether a message is about a value or something in it. */
const isAbout = (message: string, place: string): boolean =>
  message.startsWith(place) && /^[ /]/.test(message.slice(place.length))
