import type { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { addExactKeywords, type ConvertedLocations } from './exact-keywords.ts'
import { addRecursiveSchemas } from './recursive-schemas.ts'
import type { Schema } from './schema-keywords.ts'

/** Base64 with padding (RFC 4648 section 4). */
const base64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/

/**
 * Creates an Ajv instance that knows the shared schemas of an OpenAPI 3.1 document. Each validation adds the locations
 * of int64 integers and ignored properties to `locations`. A validation stops at the first error unless `allErrors` is
 * true.
 */
export function newAjv(
  schemas: Record<string, Schema>,
  locations: ConvertedLocations,
  { allErrors }: { allErrors: boolean },
): Ajv {
  const ajv = new Ajv2020({
    allErrors,
    // Inherited properties, such as those of Object.prototype, do not count as present.
    ownProperties: true,
    // Unknown keywords and formats do not affect validity (JSON Schema 2020-12, core, section 4.3.1).
    strict: false,
    strictNumbers: true,
    verbose: true,
    logger: false,
    // packages/fastify-contract/src/compile/schema-compilation.ts has already checked the schemas.
    meta: false,
    validateSchema: false,
  })
  addFormats.default(ajv)
  // ajv-formats accepts a multi-line text as soon as one of its lines is base64.
  ajv.addFormat('byte', base64)
  // ajv-formats also accepts white space instead of the T, and the offsets +01 and +0100 (RFC 3339 section 5.6).
  for (const [name, pattern] of [
    ['date-time', /^.{10}t.*(?:z|[+-]\d\d:\d\d)$/i],
    ['time', /(?:z|[+-]\d\d:\d\d)$/i],
  ] as const) {
    const { validate } = ajv.formats[name] as { validate(text: string): boolean }
    ajv.addFormat(name, (text: string) => pattern.test(text) && validate(text))
  }
  // The expression of ajv-formats takes quadratic time.
  ajv.addFormat('url', (text: string) => /^(?:https?|ftp):\/\/\S+$/iu.test(text) && URL.canParse(text))
  addExactKeywords(ajv, locations)
  addRecursiveSchemas(ajv, locations)
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema as object, name)
  return ajv
}
