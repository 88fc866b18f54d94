import { stringifyJson } from '../json/stringify-json.ts'
import { type ParameterStyle, pairText, parameterPairs } from './parameter-pairs.ts'

/** The styles of form fields that differ from the default, by kind of form and by name. */
type FieldStyles = Partial<Record<string, Record<string, ParameterStyle>>>

/** A body for `fetch`. `contentType` is missing where `fetch` sets it. */
type SentBody = { body: NonNullable<RequestInit['body']> | null; contentType?: string }

/**
 * Serializes the body of a call in a media type, by default JSON. For JSON the body is any value, and for a form an
 * object; texts and bytes stay unchanged. Throws a TypeError for a form field that its style cannot represent.
 */
export function sentBody(body: unknown, contentType = 'application/json', styles: FieldStyles = {}): SentBody {
  if (body === undefined) return { body: null }
  const essence = contentType.replace(/[ \t]*;.*$/s, '').toLowerCase()
  // RFC 6839 section 3.1: the suffix +json marks a JSON format.
  if (/[/+]json$/.test(essence)) return { body: stringifyJson(body) as string, contentType }
  if (essence === 'multipart/form-data') return { body: partsOf(body as object, styles.multipart) }
  if (essence !== 'application/x-www-form-urlencoded')
    return { body: body as Exclude<SentBody['body'], null>, contentType }
  return {
    body: fieldsOf(body as object, styles.form)
      .map(pairText)
      .join('&'),
    contentType,
  }
}

const fieldsOf = (form: object, styles: Record<string, ParameterStyle> = {}) =>
  membersOf(form).flatMap(([name, value]) => {
    const style = Object.hasOwn(styles, name) ? styles[name] : { isJson: isObject(value) }
    return parameterPairs({ ...style, in: 'query', name }, value, (problem) => {
      throw new TypeError(`body/${name}: ${problem}`)
    })
  })

function partsOf(form: object, styles: Record<string, ParameterStyle> = {}): FormData {
  const data = new FormData()
  for (const [name, value] of membersOf(form)) {
    const { isJson = false, mediaType } = (Object.hasOwn(styles, name) && styles[name]) || {}
    for (const item of [value].flat()) {
      if (item !== undefined) data.append(name, partOf(item, isJson || isObject(item), mediaType))
    }
  }
  return data
}

function partOf(item: unknown, isJson: boolean, type?: string): string | Blob {
  if (item instanceof Blob) return item
  const text = isJson ? String(stringifyJson(item)) : String(item ?? '')
  // FormData normalizes the line breaks of a string, but not those of a Blob (WHATWG HTML section 4.10.22.8).
  const isBlob = isJson || type !== undefined || /[\r\n]/.test(text)
  return isBlob ? new Blob([text], { type: type ?? (isJson ? 'application/json' : 'text/plain') }) : text
}

const membersOf = (form: object) => Object.entries(form).filter(([, value]) => value !== undefined)

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
