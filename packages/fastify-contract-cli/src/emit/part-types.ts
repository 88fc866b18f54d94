import { kindOf, type Schema } from 'fastify-contract/contract'
import { withOptionalHeaders } from '../document/contents.ts'
import { keysOf, resolve } from '../document/json-pointer.ts'
import {
  type Document,
  type Endpoint,
  type Header,
  isIgnored,
  type MediaTypes,
  type Parameter,
  type RequestBody,
  type Response,
  resolved,
} from '../document/openapi-document.ts'
import { withSchema } from '../document/parameter-objects.ts'
import { mapTree, methods, type Node } from '../document/walk-document.ts'
import { typeName } from '../text/type-name.ts'
import type { Member, Type, typePrinter } from '../typescript/print-types.ts'
import { quoted } from '../typescript/type-printer.ts'
import { typedForm } from './form-types.ts'
import { asObject, typedSchema } from './typed-schemas.ts'

/** The components that types refer to by name. What a $ref to anything else refers to is printed in its place. */
const referred = ['schemas', 'responses', 'parameters', 'requestBodies', 'headers']

/** The locations of parameters, and the methods of OpenAPI 3.1, in the order of openapi-typescript. */
const places = ['query', 'header', 'path', 'cookie'] as const
const printedMethods = methods.filter((method) => method !== 'query')

/** Returns what makes the types of the parts of a document that hold schemas, in the form of openapi-typescript. */
export function partTypes(document: Document, { schemaType, named }: ReturnType<typeof typePrinter>) {
  const components = (document.components ?? {}) as Record<string, Record<string, Node>>
  return { schemaMembers, componentMembers, itemMembers, operationMembers }

  function schemaMembers(): Member {
    const all = Object.entries(components.schemas ?? {}).map(function schemaMember([name, schema]) {
      const about = typed(schema)
      return named(typeName(name), { name, type: schemaType(about), about }, true)
    })
    return { name: 'schemas', type: orNever(all) }
  }

  function componentMembers(): Member[] {
    const members = (kind: string, typeOf: (node: never) => Type): Member => ({
      name: kind,
      type: orNever(
        Object.entries(components[kind] ?? {}).map(function componentMember([name, node]) {
          const about = resolved<Node>(document, node)
          return { name, type: typeOf(about as never), about }
        }),
      ),
    })
    return [
      members('responses', responseType),
      members('parameters', parameterType),
      members('requestBodies', bodyType),
      members('headers', headerType),
      { name: 'pathItems', type: 'never' },
    ]
  }

  /** Returns the members of a path item. `typeOf` returns the type of its operation with a method in upper case. */
  function itemMembers(item: Node, typeOf: (method: string) => Type): Member[] {
    const methodMember = (name: string): Member =>
      item[name] === undefined ? none(name) : { name, type: typeOf(name.toUpperCase()), about: item[name] }
    return [
      parametersMember(item.parameters),
      ...printedMethods.map(methodMember),
      ...(item.query === undefined ? [] : [{ name: 'query', type: typeOf('QUERY') }]),
    ]
  }

  /** Returns the members of an operation. Its bodies and parameters have declarations if it has a name. */
  function operationMembers(endpoint: Endpoint, item: Node, name?: string): Member[] {
    const { parameters = [], requestBody, responses = {} } = resolve(document, endpoint.pointer) as Node
    const kinds = kindsOf(endpoint)
    return [
      parametersMember([...((item.parameters ?? []) as unknown[]), ...(parameters as unknown[])], name),
      requestBody === undefined ? none('requestBody') : requestMember(requestBody as Node, name),
      {
        name: 'responses',
        type: orNever(
          Object.entries(responses as Record<string, Node>).map(([status, response]) => ({
            name: status,
            ...reference<Response>(response, (node) => responseType(node, name && `${name} ${status}`)),
          })),
        ),
      },
      ...(kinds.length > 0 ? [{ name: 'kinds', type: kinds }] : []),
    ]
  }

  function parametersMember(given: unknown = [], name?: string): Member {
    const kept = new Map<string, Parameter>()
    const nodes = new Map<string, Node>()
    for (const node of given as Node[]) {
      const parameter = resolved<Parameter>(document, node)
      const key = `${parameter.in} ${parameter.name}`
      if (isIgnored(parameter)) continue
      kept.set(key, parameter)
      nodes.set(key, node)
    }
    const all = Array.from(kept, ([key, parameter]) => ({
      in: parameter.in,
      name: parameter.name,
      isOptional: parameter.in !== 'path' && !parameter.required,
      ...reference(nodes.get(key) as Node, parameterType),
      about: parameter,
    }))
    return {
      name: 'parameters',
      type: places.map(function placeMember(place) {
        const own = all.filter((parameter) => parameter.in === place)
        if (own.length === 0) return none(place)
        const member = { name: place, type: own, isOptional: own.every(({ isOptional }) => isOptional) }
        return name === undefined ? member : named(typeName(`${name} ${place}`), member)
      }),
    }
  }

  function requestMember(node: Node, name: string | undefined): Member {
    const { required } = resolved<RequestBody>(document, node)
    const body = reference<RequestBody>(node, (found) => bodyType(found, name))
    return { name: 'requestBody', isOptional: !required, ...body }
  }

  /** Returns the type and the commented object for a node: a reference to a component, or the type of what it is. */
  function reference<Found>(node: Node, typeOf: (found: Found) => Type): { type: Type; about: unknown } {
    if (typeof node.$ref === 'string') {
      const [first, kind = '', name = '', ...rest] = keysOf(node.$ref)
      if (first === 'components' && referred.includes(kind) && rest.length === 0)
        return { type: `components[${quoted(kind)}][${quoted(name)}]`, about: node }
    }
    const found = resolved<Found & Node>(document, node)
    return { type: typeOf(found), about: found }
  }

  function bodyType({ content }: RequestBody, name?: string): Type {
    const forms = Object.entries(content ?? {}).map(([type, media]) => [
      type,
      kindOf(type) === 'multipart' ? { ...media, schema: typedForm(document, media) } : media,
    ])
    const members = mediaMembers(Object.fromEntries(forms), name)
    return [{ name: 'content', type: members.length > 0 ? members : [none('*/*')] }]
  }

  function responseType(response: Response, name?: string): Type {
    const { headers = {} } = withOptionalHeaders(document, response) as Response
    const content = mediaMembers(response.content ?? {}, name)
    const declared = Object.entries(headers as Record<string, Node>).map(([header, node]) => ({
      name: header,
      isOptional: node.$ref === undefined && !node.required,
      ...reference(node, headerType),
    }))
    return [
      { name: 'headers', type: declared.length > 0 ? declared : 'Record<string, never>' },
      content.length > 0 ? { name: 'content', type: content } : none('content'),
    ]
  }

  function mediaMembers(content: MediaTypes, name?: string): Member[] {
    return Object.entries(content).map(function mediaMember([type, media]) {
      const member = { name: type, type: typeOf(media.schema, 'unknown'), about: media }
      return name === undefined ? member : named(typeName(`${name} body`), member)
    })
  }

  function headerType({ schema, content }: Header): Type {
    return schema === undefined && content !== undefined ? mediaMembers(content) : typeOf(schema, 'unknown')
  }

  function parameterType(parameter: Node): Type {
    return typeOf(withSchema(parameter).schema as Schema | undefined, 'string')
  }

  function typeOf(schema: Schema | undefined, absent: string): Type {
    return schema === undefined ? absent : schemaType(typed(schema))
  }

  function typed(schema: Schema): unknown {
    return mapTree(asObject(schema), 'schema', { schema: (node) => typedSchema(document, node) })
  }
}

const none = (name: string): Member => ({ name, type: 'never', isOptional: true })

const orNever = (members: Member[]): Type => (members.length > 0 ? members : 'never')

/** Returns the kinds of the media types of an operation other than JSON, which its types say beside their schemas. */
function kindsOf({ requestBody, responses }: Endpoint): Member[] {
  const kinds = new Map<string, string>()
  for (const holder of [requestBody, ...Object.values(responses)])
    for (const type of Object.keys(holder?.content ?? {})) if (kindOf(type) !== 'json') kinds.set(type, kindOf(type))
  return Array.from(kinds, ([name, kind]) => ({ name, type: quoted(kind) }))
}
