import { type Document, type Parameter, wholeStyle } from '../document/openapi-document.ts'
import { defaultStyles } from '../document/parameter-objects.ts'
import { typesOf } from '../document/schemas.ts'
import { isPlainList } from '../document/value-texts.ts'
import { mapDocument, withoutKeys } from '../document/walk-document.ts'

/** The member of a parameter with what is assumed about its style. */
export const assumedStyle = 'x-assumed-style'

/** The styles for each location of parameters (OpenAPI 3.1 section 4.8.12.3). */
export const styles = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
}

/** Styles that OpenAPI defines only for arrays and objects that are not exploded ("n/a" in section 4.8.12.6). */
export const delimited = ['spaceDelimited', 'pipeDelimited']

/** All styles; `cookie` is new in OpenAPI 3.2, and its values are not percent-encoded. */
const known = [...new Set([...Object.values(styles).flat(), 'cookie'])]

/**
 * Returns a document in which a style that OpenAPI does not define for a parameter is the style that all clients send
 * instead, with a note in the parameter. A style that clients understand differently stays, for the rules to reject.
 */
export const withDefinedStyles = (document: Document): Document =>
  mapDocument(document, {
    parameter: (node) => {
      const parameter = node as Parameter & typeof node
      const { style, in: location } = parameter
      if (typeof style !== 'string' || style === wholeStyle || !Object.hasOwn(styles, location) || 'content' in node)
        return node
      const { assumed, ...read } = definedStyle(document, parameter)
      return assumed === undefined
        ? node
        : { ...withoutKeys(node, ['style', 'explode']), ...read, [assumedStyle]: assumed }
    },
  })

/**
 * Returns a document in which each parameter has the style in which it is read, so that clients made from the document
 * agree with the service.
 */
export const withPublishedStyles = (document: Document): Document =>
  mapDocument(withDefinedStyles(document), {
    parameter: (node) => (assumedStyle in node ? withoutKeys(node, [assumedStyle]) : node),
  })

type Read = { style?: string; explode?: boolean; assumed?: string }

function definedStyle(document: Document, parameter: Parameter): Read {
  const { in: location, style: given = '', explode, schema } = parameter
  const usual = defaultStyles[location]
  const own = explode === undefined ? {} : { explode }
  if (given === '') return { ...own, assumed: `an empty style is read as style ${usual}; remove style` }
  const style = known.find((each) => each.toLowerCase() === given.toLowerCase())
  if (style !== undefined && style !== given) {
    const assumed = `style ${given} is read as ${style}; correct it`
    const { assumed: more, ...read } = definedStyle(document, { ...parameter, style })
    return more === undefined ? { style, ...own, assumed } : { ...read, assumed: `${assumed}; ${more}` }
  }
  const { types } = typesOf(document, schema)
  const kind = types.includes('object') ? 'object' : types.includes('array') ? 'array' : 'scalar'
  const isDefined = styles[location].includes(given)
  if (isDefined && given === 'deepObject' && explode === false) {
    return {
      style: given,
      assumed: 'OpenAPI does not define explode: false with style deepObject; it is read as exploded; remove explode',
    }
  }
  if (isDefined && !delimited.includes(given)) return {}
  if (kind === 'scalar') return scalarStyle(location, given, style !== undefined)
  if (isDefined) {
    if (explode !== true) return {}
    return {
      assumed: `OpenAPI does not define explode: true with style ${given}; it is read as style form; use that`,
    }
  }
  if (given === 'form' && explode !== true)
    return { assumed: `style form is not defined in ${location}; it is read as style simple; remove style` }
  if (given === 'simple' && (kind === 'array' || explode !== true)) {
    return {
      explode: false,
      assumed: `style simple is not defined in ${location}; it is read as style form with explode: false; use that`,
    }
  }
  if (style === undefined && location === 'query' && kind === 'array' && isPlainList(document, schema))
    return { assumed: `style ${given} is unknown; a list is read in every style; remove style` }
  return {}
}

/** Returns how a single value is read in a style that OpenAPI does not define for it. */
function scalarStyle(location: Parameter['in'], given: string, isKnown: boolean): Read {
  // Clients write the prefix of these styles in a header or a cookie, or leave it out.
  const isPrefixed = (given === 'label' || given === 'matrix') && location !== 'query'
  if (isPrefixed || given === 'cookie') return {}
  const usual = defaultStyles[location]
  return {
    assumed: isKnown
      ? `style ${given} is not defined for a single value in ${location}; it is read as style ${usual}; remove style`
      : `style ${given} is unknown; a single value is read as style ${usual}; remove style`,
  }
}
