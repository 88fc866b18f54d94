import type { IncomingMessage } from 'node:http'
import { ContractError } from '../contract/errors.ts'
import type { PreconditionRules } from '../contract/routes.ts'
import { maxTags, parseTagList, type TagList } from './entity-tags.ts'
import { parseHttpDate } from './http-dates.ts'

/** The preconditions of a request that its operation evaluates. Times are in milliseconds. */
export type PreconditionFields = {
  ifMatch?: TagList | undefined
  ifNoneMatch?: TagList | undefined
  ifModifiedSince?: number | undefined
  ifUnmodifiedSince?: number | undefined
}

type Message = Pick<IncomingMessage, 'headers' | 'rawHeaders'>

/**
 * Reads the preconditions of a request. Leaves out those whose failure would have a status that the operation does not
 * list. Throws a ContractError for an invalid list of entity tags, since ignoring If-Match would lose an update. A read
 * ignores an invalid If-None-Match instead: its client gets the whole response.
 */
export function readPreconditions(message: Message, { of, statuses, validators }: PreconditionRules) {
  const fields: PreconditionFields = {}
  if (statuses.includes(412)) {
    fields.ifMatch = tagsIn(message, 'If-Match')
    if (validators.includes('lastModified')) fields.ifUnmodifiedSince = timeIn(message, 'if-unmodified-since')
  }
  if (of === 'write') fields.ifNoneMatch = tagsIn(message, 'If-None-Match')
  else if (statuses.includes(304)) {
    const given = textIn(message, 'if-none-match')
    // An empty list matches no tag. If-Modified-Since is ignored beside any If-None-Match (RFC 9110 section 13.1.3).
    fields.ifNoneMatch = given === undefined ? undefined : (parseTagList(given) ?? [])
    fields.ifModifiedSince = timeIn(message, 'if-modified-since')
  }
  return fields
}

/** Returns whether a request has a precondition, as a 428 requires (RFC 6585 section 3). */
export const hasPrecondition = ({ ifMatch, ifNoneMatch, ifUnmodifiedSince }: PreconditionFields): boolean =>
  ifMatch !== undefined || ifNoneMatch !== undefined || ifUnmodifiedSince !== undefined

/** Node.js joins the values of a header that occurs more than once. */
const textIn = ({ headers }: Message, name: string): string | undefined => headers[name]?.toString()

function tagsIn(message: Message, name: 'If-Match' | 'If-None-Match'): TagList | undefined {
  const text = textIn(message, name.toLowerCase())
  if (text === undefined) return undefined
  const tags = parseTagList(text)
  if (tags !== undefined) return tags
  throw new ContractError('invalid', `${name} must be * or a list of at most ${maxTags} entity tags, such as "v1"`)
}

/** Returns the time in a header; undefined if it is invalid or occurs twice (RFC 9110 sections 13.1.3 and 13.1.4). */
function timeIn(message: Message, name: string): number | undefined {
  const text = textIn(message, name)
  if (text === undefined) return undefined
  const names = message.rawHeaders.filter((each, index) => index % 2 === 0 && each.toLowerCase() === name)
  // Node.js keeps the first of several values.
  return names.length > 1 ? undefined : parseHttpDate(text)
}
