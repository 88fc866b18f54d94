import type { CallStyles, ParameterStyle } from 'fastify-contract/client'
import { type FormField, isOfTypes, requestKindOf, type SerializedValue } from 'fastify-contract/contract'
import { formOf, isForm } from './forms.ts'
import { type Document, endpoints, type MediaTypes, type Parameter } from './openapi-document.ts'
import { defaultStyles, isJson, isWhole } from './parameter-objects.ts'
import { hasNestedProperties, isExploded, serializedValue } from './styled-values.ts'

/** Returns the style of a parameter as far as it differs from the default of its location. */
export function parameterStyle(document: Document, parameter: Parameter): ParameterStyle {
  if (isWhole(parameter)) {
    const { form = {} } = formStyles(document, parameter.content as MediaTypes)
    return isJson(parameter) ? { isJson: true, isWhole: true } : { isWhole: true, fields: form }
  }
  const usual = defaultStyles[parameter.in]
  if (parameter.content !== undefined) return isJson(parameter) ? { isJson: true } : {}
  const { schema, style = usual, explode = isExploded(style) } = parameter
  if (hasNestedProperties(document, schema, { style, explode })) return { style: 'deepObject' }
  return {
    ...(style !== usual && { style }),
    ...(explode !== isExploded(style) && { explode }),
    ...emptyList(serializedValue(document, { ...parameter, style, explode })),
  }
}

/** Returns the flag of a list whose empty text the service reads as an empty list, and as nothing else. */
const emptyList = ({ isPlain, scalarTypes = [] }: SerializedValue): ParameterStyle =>
  isPlain && !isOfTypes('', scalarTypes) ? { isPlain } : {}

/**
 * Returns the styles of the parameters and form fields of a document that differ from the defaults of their locations;
 * the client needs them to write requests.
 */
export function callStyles(document: Document, all = endpoints(document)): CallStyles {
  const operations: [string, CallStyles[string]][] = []
  for (const { method, path, parameters, requestBody } of all) {
    const styles: CallStyles[string] = { ...(requestBody && formStyles(document, requestBody.content)) }
    for (const parameter of parameters) {
      const style = parameterStyle(document, parameter)
      if (parameter.in === 'cookie' || Object.keys(style).length === 0) continue
      const { in: location, name } = parameter
      styles[location] = Object.fromEntries([...Object.entries(styles[location] ?? {}), [name, style]])
    }
    if (Object.keys(styles).length > 0) operations.push([`${method} ${path}`, styles])
  }
  return Object.fromEntries(operations)
}

/** The styles of form fields, by the kind of form and by name. */
type FormStyles = Partial<Record<'form' | 'multipart', Record<string, ParameterStyle>>>

/** Returns the styles of the form fields that differ from the default for their values. */
export function formStyles(document: Document, content: MediaTypes): FormStyles {
  const forms: FormStyles = {}
  for (const [mediaType, media] of Object.entries(content)) {
    if (!isForm(mediaType)) continue
    const styles: [string, ParameterStyle][] = []
    for (const field of formOf(document, mediaType, media).fields) {
      const style = styleOf(field)
      if (Object.keys(style).length > 0) styles.push([field.name, style])
    }
    if (styles.length > 0) forms[requestKindOf(mediaType) as keyof FormStyles] = Object.fromEntries(styles)
  }
  return forms
}

/**
 * Returns the style of a field: objects are JSON by default, and a part names its media type unless it is a usual one.
 */
function styleOf(field: FormField): ParameterStyle {
  const { kind, style, explode, part } = field
  const [mediaType = ''] = part?.isFile ? [] : (part?.mediaTypes ?? [])
  const named = ['', 'text/plain', 'application/json'].includes(mediaType) ? {} : { mediaType }
  if (kind === 'json') return { isJson: true, ...named }
  if (part !== undefined || kind === 'scalar') return named
  const isUsual = kind !== 'object' && style === 'form'
  return {
    ...(!isUsual && { style }),
    ...(explode !== isExploded(style) && { explode }),
    ...emptyList(field),
  }
}
