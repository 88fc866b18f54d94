/** The parts of a bundled OpenAPI 3.1 document that the server reads. */
export type Schema = boolean | { [keyword: string]: unknown }
export type MediaTypes = Record<string, { schema?: Schema }>
export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header' | 'cookie'
  required?: boolean
  schema?: Schema
}
export type SecurityRequirement = Record<string, string[]>

export type Operation = {
  operationId?: string
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: MediaTypes }
  responses?: Record<string, { content?: MediaTypes }>
  security?: SecurityRequirement[]
}

export type Document = {
  openapi: string
  info: { title: string; version: string }
  paths?: Record<string, Record<string, unknown>>
  security?: SecurityRequirement[]
  components?: { securitySchemes?: Record<string, unknown> }
}

/** One operation of a document with what it inherits from its path and from the document. */
export type Endpoint = {
  path: string
  method: string
  pointer: string
  operation: Operation
  parameters: (Parameter & { pointer: string })[]
  security: SecurityRequirement[]
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/** Takes a document; gives its operations in its order (OpenAPI 3.1 sections 4.8.8 to 4.8.10). */
export function endpoints(document: Document): Endpoint[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    methods
      .filter((method) => Object.hasOwn(item, method))
      .map((method) => {
        const operation = item[method] as Operation
        const pointer = join('#', 'paths', path, method)
        return {
          path,
          method: method.toUpperCase(),
          pointer,
          operation,
          parameters: parameters(document, join('#', 'paths', path), item as Operation, pointer, operation),
          security: operation.security ?? document.security ?? [],
        }
      }),
  )
}

/** The parameters of an operation; its own take the place of those of its path. */
function parameters(document: Document, pathPointer: string, item: Operation, pointer: string, operation: Operation) {
  const all = new Map<string, Parameter & { pointer: string }>()
  const add = (list: Parameter[] = [], holder: string) => {
    for (const [index, given] of list.entries()) {
      const at = (given as { $ref?: string }).$ref ?? join(holder, 'parameters', String(index))
      const parameter = resolve(document, at) as Parameter
      all.set(`${parameter.in} ${parameter.name}`, { ...parameter, pointer: at })
    }
  }
  add(item.parameters, pathPointer)
  add(operation.parameters, pointer)
  return [...all.values()]
}

/** Takes a pointer as a URI fragment and the keys below it; gives the pointer to that place (RFC 6901 section 6). */
export const join = (pointer: string, ...keys: string[]): string =>
  [pointer, ...keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')))].join('/')

/** Takes a document and a pointer into it as a URI fragment; gives what stands there. */
export const resolve = (document: object, pointer: string): unknown =>
  pointer
    .slice(2)
    .split('/')
    .map((key) => decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], document)
