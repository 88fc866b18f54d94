import { essenceOf, type FormField, requestKindOf, type Schema, schemasIn } from 'fastify-contract/contract'
import { type FormProperty, formOf, formProperties, isForm, openPart, partSchema } from '../document/forms.ts'
import { charsetProblem, fieldTypeProblem, nameProblem, withHyphen } from '../document/media-type-names.ts'
import {
  type Document,
  type Encoding,
  type MediaType,
  type Parameter,
  wholeStyle,
} from '../document/openapi-document.ts'
import { schemasDescribing, typesOf } from '../document/schemas.ts'
import { isNode, mapDocument, mapHeld, type Node, withoutKeys } from '../document/walk-document.ts'
import type { Advised } from '../reports/reports.ts'
import { changedSchema } from './changed-schemas.ts'
import {
  ambiguities,
  fieldProblems,
  openFieldProblems,
  partProblems,
  styleProblems,
  textKeywords,
  uncheckedKeywords,
} from './form-problems.ts'

/** What the author of a form may not expect: its kind, the keys that lead to its location in the media type, and a text. */
export type FormAdvice = { kind: Advised; keys: string[]; text: string }

/** The form that the service reads, and how it differs from what the document says. */
type ServedForm = { media: MediaType; advice: FormAdvice[] }

/** The schema of a part whose bytes the handler reads, and which nothing constrains. */
const anyFile: Schema = { contentMediaType: 'application/octet-stream' }

/** The schema of such parts that share a name. */
const anyFiles: Schema = { type: 'array', items: anyFile }

/** The schema of a field whose texts the handler gets as they are. */
const anyTexts: Schema = { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] }

/** Fields of an encoding that have no effect in multipart/form-data. */
export const partStyles = ['style', 'explode', 'allowReserved']

/** Returns a document in which each form has a schema that the service can read: see `servedForm`. */
export const withServedForms = (document: Document): Document => {
  const inContent = (holder: Node) =>
    mapHeld(holder, 'content', (media, mediaType) =>
      isForm(mediaType) && isNode(media) ? servedForm(document, mediaType, media).media : media,
    )
  return mapDocument(document, {
    requestBody: inContent,
    parameter: (node) => ((node as Partial<Parameter>).style === wholeStyle ? inContent(node) : node),
  })
}

/**
 * Returns a form as the service reads it. What it cannot read as described, it does not validate: the handler gets the
 * bytes of such a part of multipart/form-data, and the texts of such a field of a URL-encoded form.
 */
export function servedForm(document: Document, mediaType: string, given: MediaType): ServedForm {
  const isMultipart = requestKindOf(mediaType) === 'multipart'
  const advice: FormAdvice[] = []
  const advise: Advise = (kind, text, ...keys) => advice.push({ kind, keys, text })
  const { types } = typesOf(document, given.schema)
  if (types.length > 0 && !types.includes('object')) {
    advise('unclear-form', `a form is an object, so ${raw(isMultipart, 'each')}; ${nameEach}`, 'schema')
    return { media: rawForm(isMultipart), advice }
  }
  const encoding = servedEncoding(given, isMultipart, advise)
  const media: MediaType = encoding === undefined ? given : { ...given, encoding }
  const changes = isMultipart ? partChanges(document, media, advise) : fieldChanges(document, mediaType, media, advise)
  const openProblems = isMultipart ? openPartProblems(document, media) : openFieldProblems(document, media)
  for (const problem of openProblems) advise('unclear-form', soThat(problem, raw(isMultipart, 'each other')), 'schema')
  const isNameless = isMultipart && openProblems.length === 0 && isWithoutParts(document, media)
  if (isNameless) advise('unclear-form', `names no parts, so ${raw(isMultipart, 'each')}; ${nameEach}`, 'schema')
  if (changes.schemas.size + changes.plain.length + openProblems.length === 0 && !isNameless) return { media, advice }
  const schema = changedSchema(document, media.schema ?? true, function servedSchema(node) {
    const open = openProblems.length > 0 ? withoutKeys(node, openKeywords) : node
    return mapHeld(open, 'properties', (own, name) => changes.schemas.get(name)?.(own as Schema) ?? own)
  })
  if (schema === undefined) {
    advise('unclear-form', `its schema is too large, so ${raw(isMultipart, 'each')}; ${nameEach}`, 'schema')
    return { media: rawForm(isMultipart), advice }
  }
  const isOpened = isMultipart && (isNameless || openProblems.length > 0)
  return {
    media: {
      ...media,
      encoding: withoutKeys(encoding ?? {}, changes.plain) as Record<string, Encoding>,
      schema: isOpened ? { ...(schema as object), type: 'object', additionalProperties: anyFiles } : schema,
    },
    advice,
  }
}

const nameEach = 'describe each as a property'

/** Returns what a handler gets of the parts or fields that are not read as described. */
const raw = (isMultipart: boolean, which: string): string =>
  `a handler gets the ${isMultipart ? `bytes of ${which} part` : `texts of ${which} field`}, which are not validated`

/** Returns a problem with what follows from it before its remedy. */
function soThat(problem: string, effect: string): string {
  const [cause, ...remedy] = problem.split('; ')
  return [`${cause}, so ${effect}`, ...remedy].join('; ')
}

const rawForm = (isMultipart: boolean): MediaType => ({
  schema: isMultipart ? { type: 'object', additionalProperties: anyFiles } : { type: 'object' },
})

type Advise = (kind: Advised, text: string, ...keys: string[]) => void

/** Returns the encoding of a form without what has no effect, with advice for it. */
function servedEncoding({ encoding }: MediaType, isMultipart: boolean, advise: Advise): MediaType['encoding'] {
  if (encoding === undefined) return undefined
  const all: [string, Encoding][] = []
  for (const [name, given] of Object.entries(encoding)) {
    const styles = isMultipart ? ['style', 'explode'].filter((field) => hasEffect(given, field)) : []
    if (styles.length > 0)
      advise(
        'style-of-part',
        `${styles.join(' and ')} in multipart/form-data ${areNot(styles)} applied: each item of an array is a part, and an object is JSON`,
        'encoding',
        name,
      )
    if (isMultipart && Object.keys(given.headers ?? {}).length > 0)
      advise(
        'headers-of-part',
        'headers of a part are not checked; state them in the description',
        'encoding',
        name,
        'headers',
      )
    const { contentType, ...others } = (isMultipart ? withoutKeys(given, partStyles) : given) as Encoding
    const served = contentType === undefined ? undefined : servedTypes(name, contentType, isMultipart, advise)
    all.push([name, { ...others, ...(served !== undefined && { contentType: served }) }])
  }
  return Object.fromEntries(all)
}

/** The default of a style has no effect beside the default of the encoding. */
const hasEffect = (encoding: object, field: string): boolean => {
  const value = (encoding as Node)[field]
  return value !== undefined && value !== { style: 'form', explode: true }[field]
}

/** Returns the media types of a field that the service distinguishes; undefined if there are none. */
function servedTypes(name: string, contentType: string, isMultipart: boolean, advise: Advise): string | undefined {
  const all: string[] = []
  for (const text of contentType.split(',')) {
    const type = withHyphen(text.trim())
    if (type === '') continue
    const problem = fieldTypeProblem(type)
    if (problem === undefined) {
      all.push(type)
      continue
    }
    const isType = nameProblem(type) === undefined
    const isText = isType && charsetProblem(type, 'read') === undefined
    const served = isText ? essenceOf(type) : isType && isMultipart ? type : undefined
    const effect = served === undefined ? 'it is ignored' : isText ? `it is read as ${served}` : 'it is read as bytes'
    advise('unclear-form', `property ${name}: ${type} ${soThat(problem, effect)}`)
    if (served !== undefined) all.push(served)
  }
  return all.length === 0 ? undefined : all.join(', ')
}

/** The changes of a form: of the schemas of its properties, and the names of those whose encoding has no effect. */
type Changes = { schemas: Map<string, (schema: Schema) => Schema>; plain: string[] }

function partChanges(document: Document, media: MediaType, advise: Advise): Changes {
  const schemas: Changes['schemas'] = new Map()
  const { fields } = formOf(document, 'multipart/form-data', media)
  for (const [index, property] of formProperties(document, media).entries()) {
    const { name, schema } = property
    const problems = [...partProblems(document, property), ...ambiguities(document, media, fields[index] as FormField)]
    const { isItem } = partSchema(document, schema)
    for (const problem of problems)
      advise(
        'unclear-form',
        `property ${name}: ${soThat(problem, `a handler gets ${isItem ? 'the bytes of each' : 'its bytes'}, which are not validated`)}`,
      )
    const keywords = uncheckedKeywords(document, property)
    if (problems.length > 0) schemas.set(name, () => (isItem ? anyFiles : anyFile))
    else if (keywords.length > 0) {
      advise(
        'unclear-form',
        `property ${name}: ${keywords.join(' and ')} of a file ${areNot(keywords)} checked; state it in the description`,
      )
      schemas.set(name, (own) => withoutFileKeywords(document, own))
    }
  }
  return { schemas, plain: [] }
}

const areNot = ({ length }: string[]): string => (length === 1 ? 'is not' : 'are not')

/** Returns a property without the keywords that constrain the bytes of files. */
function withoutFileKeywords(document: Document, schema: Schema): Schema {
  return changedOr(document, schema, withoutKeywords)

  function withoutKeywords(node: Node): Node {
    const { items } = node
    const own = withoutKeys(node, [...textKeywords, 'uniqueItems'])
    if (items === undefined) return own
    const below = changedOr(document, items as Schema, (item) => withoutKeys(item, textKeywords))
    return below === items ? own : { ...own, items: below }
  }
}

const changedOr = (document: Document, schema: Schema, change: (schema: Node) => Node): Schema =>
  changedSchema(document, schema, change) ?? true

function fieldChanges(document: Document, mediaType: string, media: MediaType, advise: Advise): Changes {
  const changes: Changes = { schemas: new Map(), plain: [] }
  const problemsOf = (properties: FormProperty[]): Map<string, string[]> => {
    const form = formOf(document, mediaType, { ...media, encoding: encodingOf(properties) })
    const problems = new Map<string, string[]>()
    for (const [index, property] of properties.entries()) {
      const field = form.fields[index] as FormField
      problems.set(property.name, [...fieldProblems(document, property), ...ambiguities(document, media, field)])
    }
    for (const { name, problem } of styleProblems(document, properties)) problems.get(name)?.push(problem)
    return problems
  }
  const properties = formProperties(document, media)
  const problems = problemsOf(properties)
  const withoutTypes = properties.map((property) =>
    fieldProblems(document, property).length > 0 ? { ...property, encoding: {} } : property,
  )
  const remaining = problemsOf(withoutTypes)
  for (const { name, encoding } of properties) {
    const isTyped = encoding.contentType !== undefined && remaining.get(name)?.length === 0
    for (const problem of problems.get(name) ?? []) {
      const effect = isTyped ? 'its contentType is ignored' : 'a handler gets its texts, which are not validated'
      advise('unclear-form', `property ${name}: ${soThat(problem, effect)}`)
      changes.plain.push(name)
      if (!isTyped) changes.schemas.set(name, () => anyTexts)
    }
  }
  return changes
}

const encodingOf = (properties: FormProperty[]): Record<string, Encoding> =>
  Object.fromEntries(properties.map(({ name, encoding }) => [name, encoding]))

/** Keywords that describe the properties that a schema does not name. */
const openKeywords = ['patternProperties', 'additionalProperties', 'unevaluatedProperties']

/** Returns why the service cannot read the parts that a schema does not name as described. */
function openPartProblems(document: Document, media: MediaType): string[] {
  for (const part of schemasDescribing(document, [media.schema])) {
    const others = [...schemasIn(part, 'patternProperties'), ...schemasIn(part, 'unevaluatedProperties')]
    if (others.some((one) => Object.keys(Object(one)).length > 0))
      return [
        'parts whose names a pattern describes are not supported; name each as a property, or use additionalProperties',
      ]
  }
  const open = openPart(document, media)
  return open === undefined ? [] : partProblems(document, open).map((problem) => `additionalProperties: ${problem}`)
}

/** Returns whether a form describes no part at all, though it allows some. */
const isWithoutParts = (document: Document, media: MediaType): boolean =>
  formProperties(document, media).length === 0 &&
  openPart(document, media) === undefined &&
  schemasDescribing(document, [media.schema], ['allOf']).every(
    ({ additionalProperties, maxProperties }) => additionalProperties !== false && maxProperties !== 0,
  )
