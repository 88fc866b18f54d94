import type { ParameterStyle } from '../client/parameter-pairs.ts'
import { requestKindOf } from '../serve/media-types.ts'
import type { FormField } from '../serve/routes.ts'
import { formOf, isForm } from './form-fields.ts'
import type { Document, Located, RequestBody } from './openapi-document.ts'
import { isExploded } from './parameter-texts.ts'

/** The styles of form fields, by the kind of form and by name. */
export type FormStyles = Partial<Record<'form' | 'multipart', Record<string, ParameterStyle>>>

/** Returns the styles of the form fields that differ from the default for their values. */
export function formStyles(document: Document, { content }: Located<RequestBody>): FormStyles {
  const forms = Object.entries(content).flatMap(([mediaType, media]) => {
    if (!isForm(mediaType)) return []
    const { fields } = formOf(document, mediaType, media)
    const styles = fields.flatMap((field): [string, ParameterStyle][] => {
      const style = styleOf(field)
      return Object.keys(style).length === 0 ? [] : [[field.name, style]]
    })
    return styles.length === 0 ? [] : [[requestKindOf(mediaType), Object.fromEntries(styles)]]
  })
  return Object.fromEntries(forms)
}

/**
 * Returns the style of a field: objects are JSON by default, and a part names its media type unless it is a usual one.
 */
function styleOf({ kind, style, explode, part }: FormField): ParameterStyle {
  const [mediaType = ''] = part?.isFile ? [] : (part?.mediaTypes ?? [])
  const named = ['', 'text/plain', 'application/json'].includes(mediaType) ? {} : { mediaType }
  if (kind === 'json') return { isJson: true, ...named }
  if (part !== undefined || kind === 'scalar') return named
  const isUsual = kind === 'array' && style === 'form'
  return { ...(!isUsual && { style }), ...(explode !== isExploded(style) && { explode }) }
}
