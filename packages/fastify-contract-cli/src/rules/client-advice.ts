import { requestKindOf } from 'fastify-contract/contract'
import { formOf, isForm } from '../document/forms.ts'
import { type Document, type Endpoint, endpoints, type Located, type Parameter } from '../document/openapi-document.ts'
import { schemaOf, serializedParameter } from '../document/parameter-objects.ts'
import { typesOf } from '../document/schemas.ts'
import { nestedPlaces } from '../document/styled-values.ts'
import { type ClientFeatureName, clientAdviceText } from '../reports/client-features.ts'

/** Advice on a part of a document that some clients cannot send. */
export type ClientAdvice = { name: ClientFeatureName; pointer: string; text: string }

/** Returns advice on what some clients cannot send. The document can be served. */
export function clientAdvice(document: Document): ClientAdvice[] {
  const found = new Map<string, ClientAdvice>()
  const add = (name: ClientFeatureName, pointer: string, subject: string) => {
    // Operations share components.
    found.set(`${name} ${pointer}`, { name, pointer, text: clientAdviceText(name, subject) })
  }
  for (const endpoint of endpoints(document)) {
    for (const parameter of endpoint.parameters) {
      const name = featureOf(document, endpoint, parameter)
      if (name !== undefined) add(name, parameter.pointer, `parameter ${parameter.name}`)
    }
    const { requestBody } = endpoint
    if (requestBody === undefined) continue
    const { pointer, required, content } = requestBody
    if (!required && Object.keys(content).some(isSentEmpty)) add('optional-body', pointer, 'the body')
    for (const [mediaType, media] of Object.entries(content)) {
      if (!isForm(mediaType)) continue
      const { fields } = formOf(document, mediaType, media)
      for (const { name, kind, isPlain, part } of fields) {
        const isList = part === undefined ? kind === 'array' : part.isItem && !part.isFile && kind !== 'json'
        const isObject = kind === 'json' || kind === 'object' || kind === 'nested'
        if (isList && !isPlain) add('form-list', pointer, `field ${name}`)
        if (part === undefined && isObject) add('form-object', pointer, `field ${name}`)
      }
      const isMultipart = requestKindOf(mediaType) === 'multipart'
      if (isMultipart && fields.length > 0 && !fields.some(({ part }) => part?.isFile))
        add('form-without-file', pointer, 'the body')
    }
  }
  return [...found.values()]
}

/** Returns whether clients send something in a media type although they mean no body. */
const isSentEmpty = (mediaType: string): boolean => ['json', 'form', 'multipart'].includes(requestKindOf(mediaType))

const holdsOthers = (types: string[]): boolean => types.includes('object') || types.includes('array')

/** Returns whether the values of a parameter can only be objects. */
function isObject(document: Document, parameter: Parameter): boolean {
  const { types } = typesOf(document, schemaOf(parameter))
  return types.includes('object') && types.every((type) => type === 'object' || type === 'null')
}

/** Returns the feature of a parameter that some clients cannot send; undefined if all can. */
function featureOf(
  document: Document,
  { path }: Endpoint,
  parameter: Located<Parameter>,
): ClientFeatureName | undefined {
  const { in: location, content, schema } = parameter
  if (location === 'cookie') return 'cookie-parameter'
  if (content !== undefined) return location === 'query' && isObject(document, parameter) ? 'json-parameter' : undefined
  const { kind, style, explode, isPlain } = serializedParameter(document, path, parameter)
  if (location === 'query') {
    if (kind === 'object') return 'query-object'
    if (kind === 'nested')
      return nestedPlaces(document, schema).places.some(({ types }, index) => index > 0 && holdsOthers(types))
        ? 'nested-object'
        : undefined
    if (kind !== 'array' || isPlain) return undefined
    if (style === 'form') return explode ? undefined : 'comma-list'
    return 'delimited-list'
  }
  if (kind !== 'array' && kind !== 'object') return undefined
  if (location === 'path') return 'path-list'
  return kind === 'array' ? 'header-list' : 'header-object'
}
