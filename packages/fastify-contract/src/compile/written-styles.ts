import type { CallStyles, ParameterStyle } from '../client/parameter-pairs.ts'
import { formStyles } from './form-styles.ts'
import { type Document, endpoints, type Parameter } from './openapi-document.ts'
import { isJson } from './parameter-content.ts'
import { defaultStyles, isExploded } from './parameter-texts.ts'

/** Returns the style of a parameter as far as it differs from the default of its location. */
export function parameterStyle(parameter: Parameter): ParameterStyle {
  const usual = defaultStyles[parameter.in]
  if (parameter.content !== undefined) return isJson(parameter) ? { isJson: true } : {}
  const { style = usual, explode = isExploded(style) } = parameter
  return { ...(style !== usual && { style }), ...(explode !== isExploded(style) && { explode }) }
}

/**
 * Returns the styles of the parameters and form fields of a document that differ from the defaults of their locations;
 * the client needs them to write requests.
 */
export function callStyles(document: Document): CallStyles {
  const operations = endpoints(document).flatMap(({ method, path, parameters, requestBody }) => {
    const places: CallStyles[string] = { ...(requestBody && formStyles(document, requestBody)) }
    for (const parameter of parameters) {
      const style = parameterStyle(parameter)
      if (parameter.in === 'cookie' || Object.keys(style).length === 0) continue
      const { in: place, name } = parameter
      places[place] = Object.fromEntries([...Object.entries(places[place] ?? {}), [name, style]])
    }
    return Object.keys(places).length === 0 ? [] : [[`${method} ${path}`, places] as const]
  })
  return Object.fromEntries(operations)
}
