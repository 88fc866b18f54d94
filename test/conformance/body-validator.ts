import { filesOf } from '../../scripts/generate/contract-files.ts'
import type { Document } from '../../scripts/generate/openapi-document.ts'
import { mapTree, type Node } from '../../scripts/generate/walk-document.ts'
import { JsonError } from '../../src/json/json-error.ts'
import { parseJson } from '../../src/json/parse-json.ts'
import type { Routes } from '../../src/openapi/routes.ts'
import type { Schema } from '../../src/openapi/schema-keywords.ts'
import { createValidator } from '../../src/openapi/validator.ts'
import { isRejection } from './rejection.ts'

export type Validate = (value: unknown) => boolean

/** Returns what validates a request body of a schema as the service does; undefined where generation refuses the schema. */
export async function bodyValidator(schema: Schema): Promise<Validate | undefined> {
  try {
    const files = await filesOf(documentWith(schema), 'openapi.yaml')
    const { operations, schemas }: Routes = JSON.parse(files['routes.json'] as string)
    const content = operations[0]?.schema.body?.content['application/json']
    const validate = createValidator(schemas).request(content?.schema ?? false, 'body')
    return (value) => isTaken(() => 'value' in validate(parseJson(JSON.stringify(value))))
  } catch (error) {
    if (isRejection(error)) return undefined
    throw error
  }
}

/** What is no I-JSON is refused before it is validated. */
function isTaken(validate: () => boolean): boolean {
  try {
    return validate()
  } catch (error) {
    if (error instanceof JsonError) return false
    throw error
  }
}

const place = '#/components/schemas/Tested'
const dialect = 'https://json-schema.org/draft/2020-12/schema'

const documentWith = (schema: Schema): Document => {
  const body = { required: true, content: { 'application/json': { schema: { $ref: place } } } }
  return {
    openapi: '3.1.0',
    info: { title: 'JSON Schema Test Suite', version: '1.0.0' },
    paths: { '/': { post: { operationId: 'test', requestBody: body, responses: { 204: { description: 'Valid.' } } } } },
    components: { schemas: { Tested: mapTree(schema, 'schema', { schema: placed }) } },
  }
}

/** In an OpenAPI document # is the document, and the dialect is that of JSON Schema 2020-12 unless it says otherwise. */
function placed({ $schema, $ref, ...schema }: Node): Node {
  return {
    ...($schema !== undefined && $schema !== dialect && { $schema }),
    ...($ref !== undefined && { $ref: String($ref).replace(/^#(?=\/|$)/, place) }),
    ...schema,
  }
}
