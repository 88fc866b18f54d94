import type { ParameterStyle } from 'fastify-contract/client'
import {
  essenceOf,
  type Form,
  kindOf,
  type MediaKind,
  type Schema,
  type SerializedParameter,
} from 'fastify-contract/contract'
import { formStyles, parameterStyle } from '../../document/call-styles.ts'
import { isChecked } from '../../document/contents.ts'
import { formOf, isForm } from '../../document/forms.ts'
import {
  type Document,
  type Endpoint,
  endpoints,
  type Located,
  type Parameter,
  type RequestBody,
  routedPath,
} from '../../document/openapi-document.ts'
import { schemaOf, serializedParameter } from '../../document/parameter-objects.ts'
import { typesOf } from '../../document/schemas.ts'
import { credentialOf } from '../../document/security-schemes.ts'
import { concreteType } from '../../examples/examples.ts'
import { needsTag } from './own-precondition.ts'

/** A parameter of an operation, with how its values are written. */
export type ParameterPart = {
  /** The location and the name, by which `RequestValues` has its value. */
  key: string
  in: Parameter['in']
  name: string
  parameter: Located<Parameter>
  schema: Schema
  isRequired: boolean
  style: ParameterStyle
  /** How the service reads it. */
  reading: SerializedParameter
}

/** A body of an operation in one of its media types. */
export type BodyPart = {
  /** The media type that is sent, and the one of the document, which may be a range. */
  mediaType: string
  declared: string
  kind: MediaKind
  /** That of the whole body; of each item, where the kind is `lines` or `events`. */
  schema: Schema
  isRequired: boolean
  /** Whether a server validates the body. */
  isChecked: boolean
  form: Form | undefined
  styles: ReturnType<typeof formStyles>
}

/** What the requests of an operation consist of. */
export type OperationParts = {
  operation: Endpoint
  /** The path before that of the operation. */
  base: string
  /** Without the parameters that carry credentials. */
  parameters: ParameterPart[]
  isBodyRequired: boolean
  bodies: BodyPart[]
  /** Whether a request must have a precondition, which `If-Match: *` meets for each resource that exists. */
  needsTag: boolean
  /** Returns whether a path belongs to another operation, whose template is more specific. */
  isOfOther: (path: string) => boolean
  /** Whether other operations have its method and path, so that parameters select it. */
  isSelected: boolean
}

/** Returns what the requests of an operation consist of. */
export function operationParts(document: Document, operation: Endpoint): OperationParts {
  const { path, parameters, requestBody, method, server } = operation
  const credentials = credentialKeys(document, operation)
  const parts: ParameterPart[] = []
  for (const parameter of parameters) {
    const key = keyOf(parameter)
    if (credentials.has(key.toLowerCase())) continue
    parts.push({
      key,
      in: parameter.in,
      name: parameter.name,
      parameter,
      schema: writableSchema(document, schemaOf(parameter)),
      isRequired: parameter.required === true || parameter.in === 'path',
      style: parameterStyle(document, parameter),
      reading: serializedParameter(document, path, parameter),
    })
  }
  const all = endpoints(document)
  const own = routedPath(path)
  const others = [...new Set(all.map((one) => routedPath(one.path)))].filter((one) => isMoreSpecific(one, own))
  const patterns = others.map(patternOf)
  const alike = all.filter((one) => one.method === method && shapeOf(routedPath(one.path)) === shapeOf(own))
  return {
    operation,
    base: new URL(server).pathname.replace(/\/$/, ''),
    parameters: parts,
    // The media type of the body may be what selects the operation.
    isBodyRequired: requestBody !== undefined && (requestBody.required === true || alike.length > 1),
    bodies: requestBody === undefined ? [] : bodyParts(document, requestBody),
    needsTag: needsTag(document, operation),
    isOfOther: (target) => patterns.some((pattern) => pattern.test(decodedPath(target))),
    isSelected: alike.length > 1,
  }
}

/** Returns the key of a parameter in `RequestValues`. */
export const keyOf = ({ in: location, name }: Pick<Parameter, 'in' | 'name'>): string => `${location} ${name}`

/** Returns a schema of which texts can be made: one that allows any type is that of a string. */
const writableSchema = (document: Document, schema: Schema): Schema =>
  typesOf(document, schema).types.length === 0 && Object.keys(Object(schema)).length === 0 ? anyText : schema

const anyText: Schema = { type: 'string' }

/** Returns the locations and names of the credentials of an operation, in lowercase. */
function credentialKeys(document: Document, { security }: Endpoint): Set<string> {
  const keys = new Set<string>()
  for (const scheme of security.flatMap(Object.keys)) {
    const credential = credentialOf(document, scheme)
    if (credential !== undefined) keys.add(keyOf(credential).toLowerCase())
  }
  return keys
}

function bodyParts(document: Document, { content, required = false }: RequestBody): BodyPart[] {
  const styles = formStyles(document, content)
  const parts: BodyPart[] = []
  for (const [declared, media] of Object.entries(content)) {
    const mediaType = isAnyType(declared) ? 'application/octet-stream' : concreteType(declared)
    parts.push({
      mediaType,
      declared,
      kind: kindOf(declared),
      schema: media.schema ?? true,
      isRequired: required,
      isChecked: isChecked(document, declared, media.schema),
      form: isForm(declared) ? formOf(document, declared, media) : undefined,
      styles,
    })
  }
  return parts
}

/** Returns whether a range covers bytes: a body of JSON has a media type of its own in a normalized document. */
const isAnyType = (declared: string): boolean => ['*/*', 'application/*'].includes(essenceOf(declared))

/** Returns a path template without the names of its parameters. */
const shapeOf = (path: string): string => path.replace(/\{[^}]*\}/g, '{}')

/** Returns whether the first segments that differ are a text in one template and a parameter in another one. */
function isMoreSpecific(one: string, other: string): boolean {
  const [first, second] = [shapeOf(one).split('/'), shapeOf(other).split('/')]
  const at = first.findIndex((segment, index) => segment !== second[index])
  if (at === -1) return false
  return (second[at] ?? '').includes('{') && first[at] !== '{}'
}

const patternOf = (template: string): RegExp => {
  const texts = template.split(/\{[^}]*\}/).map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${texts.join('[^/]+')}$`)
}

function decodedPath(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}
