import * as fc from 'fast-check'
import type { Schema } from 'fastify-contract/contract'
import type { Document, Endpoint, Parameter } from 'fastify-contract-cli/testing'
import type { Generator, SchemaViolation } from 'fastify-contract-cli/testing-values'
import {
  filterOrThrow,
  isFoundInSample,
  type Json,
  jsonText,
  ReferenceValidator,
} from 'fastify-contract-cli/testing-values'

/** The texts of one parameter: several if the parameter is repeated, none if it is left out. */
type Texts = string[]

/** The parts of a request that its parameters define. */
export type Target = { path: string; headers: Record<string, string> }

/** Returns requests to an endpoint with valid parameters, and requests that each break one parameter. */
export function parametersOf(document: Document, { path, parameters }: Endpoint, generator: Generator) {
  const judge = new ReferenceValidator(document)
  const known = parameters.filter(({ schema }) => schema !== undefined)
  const valid = known.map((parameter) => validTexts(parameter, generator))
  const targets = (texts: fc.Arbitrary<Texts>[]): fc.Arbitrary<Target> =>
    fc.tuple(...texts).map((all) => target(path, known, all))
  const breaches = known.flatMap((parameter, at) =>
    brokenTexts(parameter, generator, judge).map(({ what, values }) => ({
      name: `${parameter.in} ${parameter.name}: ${what}`,
      targets: targets(valid.with(at, values)),
    })),
  )
  return { valid: targets(valid), breaches }
}

/** Returns the texts of a value; an array repeats its parameter (style form, explode). A null has no text. */
function textsOf(parameter: Parameter, value: Json): Texts | undefined {
  const all = Array.isArray(value) && parameter.in === 'query' ? value : [value]
  const texts = all.map((one) => (typeof one === 'string' ? one : jsonText(one)))
  const areScalar = all.every((one) => one !== null && typeof one !== 'object')
  return areScalar && texts.every((text) => isSendable(parameter, text)) ? texts : undefined
}

function isSendable({ in: place }: Parameter, text: string): boolean {
  if (place === 'path') return text !== ''
  return place === 'query' || /^[!-~]([ -~]*[!-~])?$/.test(text)
}

const sendable = (parameter: Parameter, values: fc.Arbitrary<Json>): fc.Arbitrary<Texts> => {
  const texts = values.map((value) => textsOf(parameter, value))
  return filterOrThrow(texts, (one) => one !== undefined, `parameter ${parameter.name}`) as fc.Arbitrary<Texts>
}

function validTexts(parameter: Parameter, generator: Generator): fc.Arbitrary<Texts> {
  const texts = sendable(parameter, generator.valid(parameter.schema as Schema))
  if (parameter.required) return filterOrThrow(texts, ({ length }) => length > 0, `parameter ${parameter.name}`)
  return fc.oneof(fc.constant<Texts>([]), texts)
}

function brokenTexts(parameter: Parameter, generator: Generator, judge: ReferenceValidator) {
  const schema = parameter.schema as Schema
  const isBroken = (value: Json) => {
    const texts = textsOf(parameter, value)
    return texts !== undefined && texts.length > 0 && !readings(texts).some((one) => judge.accepts(schema, one))
  }
  const broken = generator
    .breaches(schema)
    .filter(({ values }: SchemaViolation) => isFoundInSample(values, isBroken))
    .map(({ where, what, values }) => ({
      what: `${where} ${what}`.trim(),
      values: sendable(parameter, filterOrThrow(values, isBroken, `parameter ${parameter.name}: ${what}`)),
    }))
  const missing = { what: 'missing', values: fc.constant([]) as fc.Arbitrary<Texts> }
  return parameter.required && parameter.in !== 'path' ? [missing, ...broken] : broken
}

/** Returns every value that a parser may read from a parameter's texts, depending on the parameter's types. */
function readings(texts: Texts): Json[] {
  const scalars = texts.map((text) => [
    text,
    ...asNumber(text),
    ...(/^(true|false)$/.test(text) ? [text === 'true'] : []),
  ])
  const lists = scalars.reduce<Json[][]>(
    (all, one) => all.flatMap((list) => one.map((value) => [...list, value])),
    [[]],
  )
  return texts.length === 1 ? [...(scalars[0] as Json[]), ...lists] : lists
}

const asNumber = (text: string): Json[] => {
  if (/^-?\d+$/.test(text)) return [BigInt(text)]
  return Number.isNaN(Number(text)) ? [] : [Number(text)]
}

function target(template: string, parameters: Parameter[], texts: Texts[]): Target {
  const pairs = parameters.flatMap((parameter, at) => (texts[at] as Texts).map((text) => ({ parameter, text })))
  const inPlace = (place: Parameter['in']) => pairs.filter(({ parameter }) => parameter.in === place)
  const encoded = (text: string) => encodeURIComponent(text).replace(/^\.{1,2}$/, (dots) => dots.replaceAll('.', '%2E'))
  const path = inPlace('path').reduce(
    (path, { parameter, text }) => path.replace(`{${parameter.name}}`, () => encoded(text)),
    template,
  )
  const query = inPlace('query').map(({ parameter, text }) => `${encoded(parameter.name)}=${encoded(text)}`)
  const cookies = inPlace('cookie').map(({ parameter, text }) => `${parameter.name}=${encoded(text)}`)
  const headers = Object.fromEntries(inPlace('header').map(({ parameter, text }) => [parameter.name, text]))
  return {
    path: query.length === 0 ? path : `${path}?${query.join('&')}`,
    headers: cookies.length === 0 ? headers : { ...headers, cookie: cookies.join('; ') },
  }
}
