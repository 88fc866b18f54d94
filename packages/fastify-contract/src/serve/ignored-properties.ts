import type { Schema } from './schema-keywords.ts'

/**
 * The keyword that scripts/generate writes for a property that is readOnly in a request or writeOnly in a response. Any
 * value of such a property is valid, and none reaches a handler or a client.
 */
export const ignoredKeyword = 'x-ignored'

/** Returns whether a schema marks an ignored property. */
export const isIgnored = (schema: Schema): boolean => typeof schema === 'object' && schema[ignoredKeyword] === true

/** The key of an ignored property in a list of locations. The class tells it apart from the key of an int64 integer. */
export class IgnoredName {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}
