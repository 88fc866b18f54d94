import type { Schema } from 'fastify-contract/contract'
import type { Document } from 'fastify-contract-cli/testing'

const int32 = { type: 'integer', format: 'int32' }
const int64 = { type: 'integer', format: 'int64' }
const string = { type: 'string' }
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

const kinds = { circle: '#/components/schemas/Circle', square: '#/components/schemas/Square' }

/** One schema for each kind of keyword that a later version of the document may use. */
export const schemas: Record<string, Schema> = {
  Label: { ...string, minLength: 1 },
  Bed: {
    type: 'object',
    required: ['id', 'planted', 'plants'],
    additionalProperties: false,
    properties: {
      id: { ...int64, minimum: 1 },
      size: { ...int32, maximum: 100, multipleOf: 5 },
      count: { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 12.5 },
      depth: { ...int64, exclusiveMaximum: -3, multipleOf: 7 },
      ratio: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
      price: { type: 'number', minimum: 0, multipleOf: 0.25 },
      code: { ...string, pattern: '^[A-Z]{2}-\\d{3}$' },
      hint: { ...string, pattern: 'sun|shade', maxLength: 20 },
      note: { type: ['string', 'null'], maxLength: 10 },
      grown: { type: ['null', 'integer'], format: 'int64' },
      soil: { ...string, enum: ['clay', 'sand'] },
      rank: { enum: [1, '1', null, { a: [1] }] },
      version: { const: 1 },
      planted: { ...string, format: 'date-time' },
      day: { ...string, format: 'date' },
      hour: { ...string, format: 'time' },
      key: { ...string, format: 'uuid' },
      mail: { ...string, format: 'email' },
      page: { ...string, format: 'uri' },
      host: { ...string, format: 'hostname' },
      address: { ...string, format: 'ipv4' },
      route: { ...string, format: 'ipv6' },
      image: { ...string, format: 'byte' },
      plants: { type: 'array', items: string, minItems: 1, maxItems: 3, uniqueItems: true },
      rows: { type: 'array', items: { type: 'array', items: int32, maxItems: 2 } },
      keeper: { anyOf: [{ ...string, minLength: 3 }, int64] },
      shape: { oneOf: [ref('Circle'), ref('Square')], discriminator: { propertyName: 'kind', mapping: kinds } },
      label: { ...ref('Label'), maxLength: 5 },
      either: { type: ['string', 'number', 'boolean'], minLength: 2, minimum: 0 },
      counts: { type: 'object', additionalProperties: { ...int64, minimum: 0 } },
      both: ref('Both'),
      odd: { type: 'integer', not: { multipleOf: 2 } },
      pair: { properties: { first: string, second: string }, dependentRequired: { first: ['second'] } },
      anything: true,
      family: ref('Family'),
      tree: ref('Tree'),
    },
  },
  Circle: { type: 'object', required: ['kind', 'radius'], properties: { kind: { const: 'circle' }, radius: int64 } },
  Square: { type: 'object', required: ['kind', 'side'], properties: { kind: { const: 'square' }, side: int32 } },
  Both: {
    required: ['name'],
    allOf: [
      { type: 'object', properties: { name: { ...string, maxLength: 8 } }, additionalProperties: string },
      { properties: { name: { minLength: 2 }, other: { enum: ['a', 'b', 1] } } },
    ],
  },
  Family: { type: 'object', properties: { name: string, children: { type: 'array', items: ref('Family') } } },
  // Each node has two children, so only an integer leaf ends the recursion.
  Tree: {
    oneOf: [
      { type: 'integer' },
      { type: 'object', required: ['left', 'right'], properties: { left: ref('Tree'), right: ref('Tree') } },
    ],
  },
}

const json = (schema: Schema) => ({ content: { 'application/json': { schema } } })
const parameter = (name: string, place: string, required: boolean, schema: Schema) => ({
  name,
  in: place,
  required,
  schema,
})

/** A document with more schema keywords and parameters than the plant store's. */
export const allKeywordsDocument: Document = {
  openapi: '3.1.0',
  info: { title: 'Richer', version: '1.0.0' },
  paths: {
    '/gardens/{garden}/beds/{bed}': {
      parameters: [
        parameter('garden', 'path', true, { ...string, maxLength: 20 }),
        parameter('bed', 'path', true, { ...int64, minimum: 0 }),
        parameter('days', 'query', true, { ...int32, minimum: 1, maximum: 7 }),
        parameter('tag', 'query', false, { type: 'array', items: string, maxItems: 3 }),
        parameter('size', 'query', false, { type: 'array', items: int32, minItems: 2 }),
        parameter('dry', 'query', false, { type: 'boolean' }),
        parameter('X-Trace', 'header', true, { ...string, minLength: 3 }),
      ],
      put: {
        operationId: 'putBed',
        requestBody: { required: true, ...json(ref('Bed')) },
        responses: { 200: { description: 'ok', ...json({ type: 'object' }) } },
      },
      get: { operationId: 'getBed', responses: { 200: { description: 'ok', ...json({ type: 'object' }) } } },
    },
    '/labels': {
      post: {
        operationId: 'postLabels',
        requestBody: { required: true, ...json({ type: 'array', items: ref('Label') }) },
        responses: { 200: { description: 'ok', ...json({ type: 'object' }) } },
      },
    },
  },
  components: { schemas },
}
