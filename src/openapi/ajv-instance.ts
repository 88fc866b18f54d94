import type { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { addExactKeywords, type ConvertedPlaces } from './exact-keywords.ts'
import type { Schema } from './schema-keywords.ts'

/** RFC 4648 section 4. */
const base64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/

/**
 * Creates an Ajv for the schemas of an OpenAPI 3.1 document that refer to shared ones. What it compiles adds the places of
 * int64 integers and of ignored properties to `places`, and finds the first error or all.
 */
export function newAjv(
  schemas: Record<string, Schema>,
  places: ConvertedPlaces,
  { allErrors }: { allErrors: boolean },
): Ajv {
  const ajv = new Ajv2020({
    allErrors,
    // A property is there when the object has it, not when Object.prototype has.
    ownProperties: true,
    // A keyword or a format that is not known says nothing about validity (JSON Schema 2020-12, core, section 4.3.1).
    strict: false,
    strictNumbers: true,
    verbose: true,
    logger: false,
    // scripts/generate/schema-compilation.ts has compiled them.
    meta: false,
    validateSchema: false,
  })
  addFormats.default(ajv)
  // The pattern of ajv-formats accepts a text of which any single line is base64.
  ajv.addFormat('byte', base64)
  addExactKeywords(ajv, places)
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema as object, name)
  return ajv
}
