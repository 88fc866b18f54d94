import { type Form, kindOf, type MediaKind, type Operation, type Routes, type Schema } from 'fastify-contract/contract'
import { parseJson, stringifyJson } from 'fastify-contract/json'
import type { Validator } from 'fastify-contract/schema'
import type {
  Document,
  Endpoint,
  Located,
  MediaType,
  MediaTypes,
  Parameter,
  RequestBody,
} from '../document/openapi-document.ts'
import { byOperationId } from '../document/openapi-document.ts'
import { holderOf, isShown, type WithExample } from '../document/parameter-objects.ts'
import { mapEntries } from '../document/walk-document.ts'
import { shownValue } from './example-request.ts'
import { exampleOfRequest } from './examples.ts'
import { generatedCount, generatedValue } from './schema-values.ts'

/** An operation with examples to send. `invalidPart` names the part of its request that has no valid example. */
export type ValidRequest = { endpoint: Endpoint; invalidPart?: string | undefined }

/** A parameter or a media type, which have the same members for their examples. */
type Holder = WithExample & object

/** Returns a parameter or a media type with other examples. */
type Candidate = (document: Document, holder: Holder) => Holder

/** The examples of the document, those of the schema, and then values that are made without examples. */
const asGiven: Candidate = (_document, holder) => holder
const asInSchema: Candidate = (_document, holder) => withoutExamples(holder)
const candidates = [asGiven, asInSchema, ...Array.from({ length: generatedCount }, (_, index) => made(index))]

function made(index: number): Candidate {
  return (document, holder) => ({
    ...withoutExamples(holder),
    example: generatedValue(document, holder.schema ?? {}, index),
  })
}

const withoutExamples = ({ example: _, examples: __, ...holder }: Holder): Holder => holder

const locations = { path: 'params', query: 'querystring', header: 'headers', cookie: 'cookies' } as const

/**
 * Returns a function that returns an operation with examples of a request that the service accepts, since an example of
 * the document may break its schema, and a value that is made of a schema may, too. An optional body without a valid
 * example is left out.
 */
export function validRequests(
  document: Document,
  { operations }: Routes,
  validator: Validator,
): (endpoint: Endpoint) => ValidRequest {
  const byId = byOperationId(operations)
  const isValid = (schema: Schema | undefined, value: unknown): boolean => {
    const text = stringifyJson(value)
    if (text === undefined) return false
    try {
      // `request` would compile another validator to describe what is wrong.
      return schema === undefined || validator.converter(schema)(parseJson(text))
    } catch {
      return false
    }
  }

  function validParameters(endpoint: Endpoint, { schema }: Operation, location: keyof typeof locations) {
    const own = endpoint.parameters.filter((parameter) => parameter.in === location)
    const found = firstValid(
      (candidate) => own.map((parameter) => changed(document, parameter, candidate)),
      (parameters) => areValid(parameters, schema[locations[location]]),
    )
    return { parameters: found ?? own, isFound: found !== undefined }
  }

  function areValid(parameters: Located<Parameter>[], schema: Schema | undefined): boolean {
    const values: [string, unknown][] = []
    for (const parameter of parameters.filter(isShown))
      values.push([parameter.name, shownValue(parameter, exampleOfRequest(document, holderOf(parameter)))])
    return values.every(([, value]) => value !== undefined) && isValid(schema, Object.fromEntries(values))
  }

  function validBody(requestBody: Located<RequestBody>, { schema, forms = {} }: Operation) {
    const found = firstValid(
      (candidate) => mapEntries(requestBody.content, (media) => candidate(document, media as MediaType)) as MediaTypes,
      isValidContent,
    )
    return { requestBody: { ...requestBody, content: found ?? requestBody.content }, isFound: found !== undefined }

    function isValidContent(content: MediaTypes): boolean {
      const [[type, media] = ['', {}]] = Object.entries(content)
      const value = exampleOfRequest(document, media)
      if (requestBody.required && kindOf(type) === 'form' && Object.keys(Object(value)).length === 0) return false
      const form = forms[type]
      if (form?.fields.some(({ part }) => part !== undefined)) return isValidForm(form, Object(value))
      const whole = schema.body?.content[type]?.schema
      return itemsOf(kindOf(type), value).every((item) => isValid(whole, item))
    }
  }

  const isValidForm = ({ fields }: Form, value: Record<string, unknown>): boolean =>
    fields.every(function isValidField({ name, part }) {
      if (part?.isFile || !Object.hasOwn(value, name)) return true
      return (part?.isItem ? [value[name]].flat() : [value[name]]).every((item) => isValid(part?.schema, item))
    })

  const known = new WeakMap<Endpoint, ValidRequest>()
  return knownRequest

  function knownRequest(endpoint: Endpoint): ValidRequest {
    const request = known.get(endpoint) ?? validRequest(endpoint)
    known.set(endpoint, request)
    return request
  }

  function validRequest(endpoint: Endpoint): ValidRequest {
    const operation = byId.get(endpoint.operationId)
    if (operation === undefined) return { endpoint }
    const given = endpoint.requestBody && validBody(endpoint.requestBody, operation)
    // A request without the body is valid if the body is optional.
    const body = given?.isFound === false && !endpoint.requestBody?.required ? undefined : given
    const chosen = new Map<string, Located<Parameter>>()
    let invalid: string | undefined
    for (const location of Object.keys(locations) as (keyof typeof locations)[]) {
      const { parameters, isFound } = validParameters(endpoint, operation, location)
      for (const each of parameters) chosen.set(keyOf(each), each)
      if (!isFound) invalid ??= location
    }
    return {
      endpoint: {
        ...endpoint,
        parameters: endpoint.parameters.map((each) => chosen.get(keyOf(each)) ?? each),
        requestBody: body?.requestBody,
      },
      invalidPart: invalid ?? (body?.isFound === false ? 'body' : undefined),
    }
  }
}

/** Returns what is made with the first candidate that gives something valid. The first one mostly does. */
function firstValid<Made>(make: (candidate: Candidate) => Made, isValid: (made: Made) => boolean): Made | undefined {
  for (const candidate of candidates) {
    const made = make(candidate)
    if (isValid(made)) return made
  }
  return undefined
}

const keyOf = ({ in: location, name }: Parameter): string => `${location} ${name}`

/** Returns a parameter with other examples. None is made for an optional one, which is then left out. */
function changed(document: Document, parameter: Located<Parameter>, candidate: Candidate): Located<Parameter> {
  const change = parameter.required || candidate === asGiven ? candidate : asInSchema
  if (parameter.content === undefined) return change(document, parameter as Holder) as Located<Parameter>
  const content = Object.entries(parameter.content).map(([type, media]) => [type, change(document, media)])
  return { ...parameter, content: Object.fromEntries(content) }
}

/** Returns the values that the schema of a body describes: the whole body, or each item of a stream. */
function itemsOf(kind: MediaKind, value: unknown): unknown[] {
  if (kind === 'bytes') return []
  return kind === 'lines' ? [value].flat() : [value]
}
