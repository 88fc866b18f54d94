import type * as fc from 'fast-check'
import type { Schema } from 'fastify-contract/contract'
import { anyCharacter, memberName } from './arbitrary.ts'

/** Returns a value for the parameter or property of a name; undefined if one is to be generated. */
export type ValueHook = (name: string, schema: Schema) => unknown

/** How values are made. */
export type ValueOptions = {
  /** The characters of texts without a pattern, a format or a list of values. */
  characters: fc.Arbitrary<string>
  /** The names of members that a schema allows without naming them. */
  names: fc.Arbitrary<string>
  /** Whether objects have such members also where the schema does not describe any. */
  isOpen: boolean
  /** Whether a text may have any value where its format is not known. */
  hasAnyFormat: boolean
  hook: ValueHook
}

/** Values with everything that a schema allows. */
export const anyValues: ValueOptions = {
  characters: anyCharacter,
  names: memberName,
  isOpen: true,
  hasAnyFormat: true,
  hook: () => undefined,
}
