/** What some clients cannot send: what a document has, what happens with which clients, and what every client can send. */
type ClientFeature = { what: string; seen: string; instead: string }

/**
 * The features of documents that some clients cannot send, by the names of their rules. What happens was seen with these
 * clients, of which "OpenAPI Generator" is version 7.25. docs/client-advice.md shows this table.
 */
export const clientFeatures = {
  'comma-list': {
    what: 'a list in a query with `explode: false` whose items may contain a comma',
    seen: 'clients of OpenAPI Generator in TypeScript and Go encode the commas between the items, so the list arrives as one item',
    instead: '`explode: true`, or items with a `pattern` such as `^[^,%]+$`',
  },
  'delimited-list': {
    what: 'a list in `spaceDelimited` or `pipeDelimited` whose items may be any text',
    seen: 'openapi-fetch 0.17 and clients of OpenAPI Generator in TypeScript and Python do not tell a delimiter in an item from one between items',
    instead: 'the style `form` with `explode: true`',
  },
  'query-object': {
    what: 'an object in a query in the style `form`, `spaceDelimited` or `pipeDelimited`',
    seen: 'clients of OpenAPI Generator write names in brackets (Go, typescript-fetch), names with dots (typescript-axios) or JSON (Python)',
    instead: 'a parameter for each property',
  },
  'nested-object': {
    what: 'a parameter in a query with a list or an object inside of an object, or an object inside of a list',
    seen: 'openapi-fetch 0.17 throws, ogen 1.24 generates no client, and the others write it in five notations',
    instead: 'a parameter for each property, or a JSON body',
  },
  'json-parameter': {
    what: 'an object in a query that `content` describes as JSON',
    seen: 'openapi-fetch 0.17, hey-api 0.99 and clients of OpenAPI Generator in TypeScript and Go write names in brackets or with dots, which gets 400',
    instead: 'a parameter for each property, or a JSON body',
  },
  'path-list': {
    what: 'a list or an object in a path',
    seen: 'clients of OpenAPI Generator encode the commas, so a list of texts arrives as one item, and omit the prefixes of `label` and `matrix` (TypeScript, Python), or write `[a b]` (Go)',
    instead:
      'a list in the query with `explode: true`, or for TypeScript and Python items with a `pattern` such as `^[^,%]+$`',
  },
  'header-list': {
    what: 'a list in a header',
    seen: 'the client of OpenAPI Generator in Go sends the last item only',
    instead: 'a list in the query with `explode: true`, or a string',
  },
  'header-object': {
    what: 'an object in a header',
    seen: 'clients of OpenAPI Generator send `[object Object]` (typescript-fetch) or JSON (typescript-axios), or fail (Go, Python)',
    instead: 'a header for each property',
  },
  'cookie-parameter': {
    what: 'a parameter in a cookie',
    seen: 'openapi-fetch 0.17 and clients of OpenAPI Generator in TypeScript, Python and Go do not send it',
    instead: 'a header, or a security scheme if it is a credential',
  },
  'optional-body': {
    what: 'an optional body',
    seen: 'the client of OpenAPI Generator in typescript-axios sends `{}` in place of no JSON body, and a form without fields arrives as none',
    instead: '`required: true`, or an operation of its own without a body',
  },
  'form-list': {
    what: 'a list of texts in a form',
    seen: 'clients of OpenAPI Generator in TypeScript, Python and Go, openapi-fetch 0.17 and swagger-client 3.38 join the items by commas, so the list arrives as one item',
    instead: 'a JSON body, or items with a `pattern` such as `^[^,%]+$`',
  },
  'form-object': {
    what: 'an object in a URL-encoded form',
    seen: 'clients of OpenAPI Generator in TypeScript send `[object Blob]` or `[object Object]`, and the one in Python sends a text that is not JSON',
    instead: 'a JSON body',
  },
  'form-without-file': {
    what: 'a `multipart/form-data` body without a file',
    seen: 'the client of OpenAPI Generator in typescript-fetch sends a URL-encoded form, which gets 415',
    instead: 'a JSON body',
  },
} as const satisfies Record<string, ClientFeature>

export type ClientFeatureName = keyof typeof clientFeatures

/** Returns the name of the rule for a feature, as a configuration of the linter has it. */
export const clientRule = (name: ClientFeatureName): string => `clients/${name}`

/** Returns the advice on a feature. `subject` is what has the feature. */
export function clientAdviceText(name: ClientFeatureName, subject: string): string {
  const { seen, instead } = clientFeatures[name]
  return `${subject}: ${seen}; use ${instead}`
}
