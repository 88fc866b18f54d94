import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JsonError, parseJson } from 'fastify-contract'
import type { Schema } from 'fastify-contract/contract'
import * as engine from 'fastify-contract/schema'
import { bothValidators } from 'fastify-contract-test-support/both-validators'
import type { Document } from '../../src/document/openapi-document.ts'
import { mapTree } from '../../src/document/walk-document.ts'
import { compileContract, compileDocument } from '../../src/emit/compile.ts'
import { isRejection } from './rejection.ts'
import { metaschemas, suiteRemotes } from './schema-suite.ts'

export type Validate = (value: unknown) => boolean

/** Returns a validator that treats request bodies as the service does; undefined if generation rejects the schema. */
export async function bodyValidator(schema: Schema): Promise<Validate | undefined> {
  try {
    const { routes } = (
      await (isIdentified(schema) ? compileFile(schema) : compileDocument(documentWith(placed(schema)), 'openapi.yaml'))
    ).contract
    const content = routes.operations[0]?.schema.body?.content['application/json']
    const validate = bothValidators(engine, routes).request(content?.schema ?? false, 'body')
    return (value) => isTaken(() => 'value' in validate(parseJson(JSON.stringify(value))))
  } catch (error) {
    if (isRejection(error)) return undefined
    throw error
  }
}

/** Returns false for a value that is not I-JSON, because the service rejects it before validation. */
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

const documentWith = (schema: unknown, more: object = {}): Document => {
  const body = { required: true, content: { 'application/json': { schema: { $ref: place } } } }
  return {
    openapi: '3.1.0',
    info: { title: 'JSON Schema Test Suite', version: '1.0.0' },
    paths: { '/': { post: { operationId: 'test', requestBody: body, responses: { 204: { description: 'Valid.' } } } } },
    components: { schemas: { Tested: schema, ...more } },
  }
}

/** Returns whether a schema refers by other means than JSON pointers, which are resolved where files are read. */
const isIdentified = (schema: Schema): boolean =>
  /"\$(?:id|anchor|dynamicRef|dynamicAnchor)":|"\$ref":"[^#]/.test(JSON.stringify(schema))

/** Compiles a schema in a file of a document, in which it is a resource of its own. */
async function compileFile(schema: Schema) {
  const text = JSON.stringify(schema)
  const others = [
    ...(text.includes('//localhost:1234/') ? suiteRemotes() : []),
    ...(text.includes(`"$ref":"${dialect}"`) ? metaschemas() : []),
  ]
  const directory = await mkdtemp(join(tmpdir(), 'json-schema-'))
  try {
    const path = join(directory, 'openapi.json')
    const more = Object.fromEntries(others.map((each, index) => [`Other${index}`, each]))
    await writeFile(path, JSON.stringify(documentWith({ $id: 'https://example.com/tested', ...Object(schema) }, more)))
    return await compileContract(path)
  } finally {
    await rm(directory, { recursive: true })
  }
}

/**
 * Adapts a schema to an OpenAPI document: references to # point to the schema's place, and the default dialect, JSON
 * Schema 2020-12, is left out.
 */
const placed = (schema: Schema): unknown =>
  mapTree(schema, 'schema', {
    schema: ({ $schema, $ref, ...rest }) => ({
      ...($schema !== undefined && $schema !== dialect && { $schema }),
      ...($ref !== undefined && { $ref: String($ref).replace(/^#(?=\/|$)/, place) }),
      ...rest,
    }),
  })
