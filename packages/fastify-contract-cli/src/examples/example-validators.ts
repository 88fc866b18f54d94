import { isEntityTag, type Operation, parseHttpDate } from 'fastify-contract/contract'

/**
 * Returns the example of a response header in the form that preconditions need: an entity tag in quotes, or a date of
 * HTTP. Undefined if it cannot have that form, or if the service sets the header. Other headers are unchanged.
 */
export function validatorExample(operation: Operation, status: number, name: string, value: unknown): unknown {
  if (operation.preconditions === undefined || status < 200 || status > 299) return value
  if (isDigest(operation, name)) return undefined
  const key = name.toLowerCase()
  if (key === 'last-modified')
    return parseHttpDate(String(value)) !== undefined && String(value).endsWith(' GMT') ? value : undefined
  if (key !== 'etag') return value
  return [value, `"${value}"`].find(isEntityTag)
}

/** Returns whether the service sets a response header: the entity tag that is a digest of the body. */
export const isDigest = ({ preconditions }: Operation, name: string): boolean =>
  preconditions?.isDigest === true && name.toLowerCase() === 'etag'
