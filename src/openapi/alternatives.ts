import type { FuncKeywordDefinition } from 'ajv'

/** Keywords whose schemas may fail without the value being invalid (JSON Schema 2020-12, core, section 10.2). */
const lists = ['anyOf', 'oneOf']
const singles = ['not', 'if', 'contains']

/**
 * Takes a keyword of a schema and its value; gives the value with each schema that may fail marked, so that what was
 * found in it is forgotten when it does.
 */
export function withAlternatives(keyword: string, value: unknown): unknown {
  if (lists.includes(keyword) && Array.isArray(value)) return value.map(marked)
  return singles.includes(keyword) ? marked(value) : value
}

const marked = (schema: unknown) => ({
  allOf: [
    { alternative: 'begins' },
    {
      if: schema,
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { alternative: 'holds' },
      else: { alternative: 'fails' },
    },
  ],
})

/** The keyword that marks an alternative: what is added to `found` while one fails is taken away again. */
export function alternativeKeyword(found: unknown[]): FuncKeywordDefinition {
  const begun: number[] = []
  return {
    keyword: 'alternative',
    schemaType: 'string',
    errors: false,
    compile: (event: 'begins' | 'holds' | 'fails') => () => {
      if (event === 'begins') return begun.push(found.length) > 0
      const before = begun.pop() as number
      if (event === 'holds') return true
      found.length = before
      return false
    },
  }
}
