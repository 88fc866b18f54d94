/** The first lines of a document in YAML. */
export const head = 'openapi: 3.1.0\ninfo: { title: A, version: 1.0.0 }\n'

/**
 * Returns a document in YAML with one operation.
 *
 * @param schema The schema of its request body, in YAML.
 * @param more More responses, which begin with a comma.
 */
export const pathsWith = (schema: string, more = ''): string => `${head}paths:
  /a:
    post:
      operationId: postA
      requestBody: { required: true, content: { application/json: { schema: ${schema} } } }
      responses: { '204': { description: Done. }${more} }
`
