import type { Schema } from './schema-keywords.ts'

/**
 * The keyword of a property that does not count the way its value goes, as scripts/generate writes it: one that is
 * readOnly in a request, or writeOnly in a response. Whatever it holds is valid. It reaches no handler and no client.
 */
export const ignoredKeyword = 'x-ignored'

/** Returns whether a schema is that of an ignored property. */
export const isIgnored = (schema: Schema): boolean => typeof schema === 'object' && schema[ignoredKeyword] === true

/** The name of an ignored property, where a list of places has the key of an int64. */
export class IgnoredName {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}
