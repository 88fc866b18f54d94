import { type Schema, schemasIn } from 'fastify-contract/contract'
import { isIgnored } from 'fastify-contract/schema'
import type { Document } from '../document/openapi-document.ts'
import {
  commonTypes,
  memberSchemas,
  numbersOf,
  type Part,
  partsOf,
  referencesOf,
  schemasOfParts,
} from '../document/schemas.ts'
import type { Node } from '../document/walk-document.ts'
import { together } from './example-items.ts'

/** Keywords whose value is an example, in order of preference. */
export const exampleKeywords = ['const', 'example', 'examples', 'default', 'enum']

/** The maximum number of schemas that describe one value together. Each member of an object is searched in all of them. */
const maxParts = 4000

/** What a schema and the schemas that apply together with it say about a value. */
export type SchemaShape = {
  schemas: Node[]
  /** The references that lead from the schema to its parts, without those before a part of a part. */
  references: string[]
  allReferences: () => string[]
  isIgnored: boolean
  /** The first type that all parts allow; undefined if none limits the type. */
  type: string | undefined
  /** Whether it allows an empty array and nothing else than arrays. */
  isEmptyList: boolean
  /** Whether one of the parts describes an object. */
  hasMembers: boolean
  /** Whether a part lists the values. */
  isFixed: boolean
  /** Whether members may demand further ones. */
  isConditional: boolean
  /** The parts with examples: the schema and the targets of its $ref, the others, and all of them in order. */
  ownGivers: Node[]
  otherGivers: Node[]
  givers: Node[]
  /** The alternatives of each part that has some, with the references that lead to the part. */
  alternatives: { all: Schema[]; references: string[] }[]
  /** The names of the members: first those that are required. */
  names: Set<string>
  required: Set<string>
  /** Whether the schema describes members that it does not name. */
  isMap: boolean
  /** The minimum number of members. */
  least: number
  /** Returns what describes a member, with the references that lead to it; no schema if nothing describes it. */
  memberOf: (name: string) => { schema?: Schema; references: string[] }
}

export type ShapeOf = (schema: Schema) => SchemaShape

/** Returns a function that describes each schema of a document once. */
export function schemaShapes(document: Document): ShapeOf {
  const shapes = new Map<Schema, SchemaShape>()
  return function shapeOf(schema) {
    const shape = shapes.get(schema) ?? describe(partsOf(document, schema, maxParts))
    shapes.set(schema, shape)
    return shape
  }
}

function describe(parts: Part[]): SchemaShape {
  const schemas = schemasOfParts(parts)
  const types = commonTypes(schemas)
  const givers = parts.filter(({ schema }) => exampleKeywords.some((keyword) => Object.hasOwn(schema, keyword)))
  const required = new Set(schemas.flatMap((schema) => (schema.required ?? []) as string[]))
  const described = schemas.flatMap((schema) => Object.keys(Object(schema.properties)))
  const members = new Map<string, ReturnType<SchemaShape['memberOf']>>()
  let all: string[] | undefined
  return {
    schemas,
    references: parts.flatMap(({ reference }) => reference ?? []),
    allReferences,
    isIgnored: schemas.some(isIgnored),
    type: types?.[0],
    isEmptyList: types?.join() === 'array' && numbersOf(schemas, 'minItems').every((least) => least === 0),
    hasMembers: schemas.some(isObjectSchema),
    isFixed: schemas.some((schema) => schema.enum !== undefined || schema.const !== undefined),
    isConditional: schemas.some(isConditional),
    ownGivers: schemasOfParts(givers.filter(({ isOwn }) => isOwn)),
    otherGivers: schemasOfParts(givers.filter(({ isOwn }) => !isOwn)),
    givers: schemasOfParts(givers),
    alternatives: parts.filter(hasAlternatives).map(alternativesOf),
    names: new Set([...required, ...described]),
    required,
    isMap: schemas.some(isMap),
    least: Math.max(0, ...numbersOf(schemas, 'minProperties')),
    memberOf,
  }

  function allReferences(): string[] {
    all ??= referencesOf(parts)
    return all
  }

  function memberOf(name: string) {
    const member = members.get(name) ?? describeMember(name)
    members.set(name, member)
    return member
  }

  function describeMember(name: string): ReturnType<SchemaShape['memberOf']> {
    const holders: Part[] = []
    const found: Schema[] = []
    for (const part of parts) {
      const held = memberSchemas(part.schema, name)
      if (held.length > 0) holders.push(part)
      found.push(...held)
    }
    if (holders.length === 0) return { references: [] }
    return { schema: together(found), references: referencesOf(holders) }
  }
}

const hasAlternatives = ({ schema }: Part): boolean => schema.oneOf !== undefined || schema.anyOf !== undefined

const alternativesOf = (part: Part): SchemaShape['alternatives'][number] => ({
  all: [...schemasIn(part.schema, 'oneOf'), ...schemasIn(part.schema, 'anyOf')],
  references: referencesOf([part]),
})

const isObjectSchema = ({ type, properties, required }: Node): boolean =>
  [type].flat().includes('object') || properties !== undefined || required !== undefined

const isConditional = (schema: Node): boolean =>
  schema.then !== undefined || schema.dependentSchemas !== undefined || schema.dependentRequired !== undefined

const isMap = ({ additionalProperties }: Node): boolean =>
  typeof additionalProperties === 'object' && additionalProperties !== null
