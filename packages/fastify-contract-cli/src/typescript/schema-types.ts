import type ts from 'typescript'
import { isBigint, isFraction } from '../document/schemas.ts'
import { isNode, type Node } from '../document/walk-document.ts'
import { compiler, transformSchemaObject } from './typescript.ts'

const { factory, SyntaxKind } = compiler

/** The `type` of a member that must be present, with any value but undefined. */
export const presentType = 'x-present'

/** The format that marks a file in the document from which the types are generated. */
export const fileFormat = 'x-file'

const nullType = () => factory.createLiteralTypeNode(factory.createNull())

/**
 * Returns the type of a schema that openapi-typescript would write otherwise; undefined for all others. `options` are
 * those that openapi-typescript passes on.
 */
export function typeOfSchema(schema: unknown, options: object): ts.TypeNode | undefined {
  if (!isNode(schema)) return undefined
  const { type, format } = schema
  if (format === fileFormat) return factory.createTypeReferenceNode('Blob')
  if (type === presentType) {
    const defined = factory.createTypeLiteralNode([])
    return schema.not === undefined ? factory.createUnionTypeNode([defined, nullType()]) : defined
  }
  if (type === 'array' && schema.enum === undefined && schema.const === undefined) return arrayType(schema, options)
  if (!isBigint(schema)) return undefined
  const types = [
    factory.createKeywordTypeNode(SyntaxKind.BigIntKeyword),
    ...(isFraction(schema) ? [factory.createKeywordTypeNode(SyntaxKind.NumberKeyword)] : []),
    ...([type].flat().includes('null') ? [nullType()] : []),
  ]
  return types.length === 1 ? types[0] : factory.createUnionTypeNode(types)
}

/** The maximum number of elements that a tuple gets beyond those of its prefix. */
const maxPadding = 16

/**
 * Returns the type of an array. An array may be shorter than its prefix, and has any further items unless `items`
 * describes them (JSON Schema 2020-12 section 10.3.1).
 */
function arrayType(schema: Node, options: object): ts.TypeNode {
  const {
    prefixItems = [],
    items = true,
    minItems = 0,
    maxItems = Number.POSITIVE_INFINITY,
  } = schema as {
    prefixItems?: unknown[]
    items?: unknown
    minItems?: number
    maxItems?: number
  }
  const others = transformSchemaObject(items, options)
  const rest = factory.createArrayTypeNode(others)
  if (prefixItems.length === 0) return rest
  const most = items === false ? Math.min(prefixItems.length, maxItems) : maxItems
  if (minItems > most) return transformSchemaObject(false, options)
  const length = Math.min(Math.max(prefixItems.length, minItems), most, prefixItems.length + maxPadding)
  const isBounded = most <= prefixItems.length + maxPadding
  const elements = Array.from({ length: isBounded ? most : length }, function elementType(_, index) {
    const type = index < prefixItems.length ? transformSchemaObject(prefixItems[index], options) : others
    return index < minItems ? type : factory.createOptionalTypeNode(type)
  })
  return factory.createTupleTypeNode(isBounded ? elements : [...elements, factory.createRestTypeNode(rest)])
}
