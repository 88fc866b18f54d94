import type ts from 'typescript'
import { typeName } from '../text/type-name.ts'
import { compiler } from './typescript.ts'

const { factory, SyntaxKind } = compiler

/** Names of types that openapi-typescript writes, or that the types of schemas use. */
const reserved = ['Array', 'Blob', 'Extract', 'Record']

/**
 * Returns a function that declares types under names of their own, and the declarations. The compiler prints such a name
 * in messages and hints, in place of a type that may have hundreds of members.
 */
export function typeDeclarer() {
  const taken = new Set(reserved)
  const declarations: ts.TypeAliasDeclaration[] = []
  return { declarations, named, declared }

  /** Returns a reference to the type under the name, or a similar one; a type that is itself a name stays as it is. */
  function named(name: string, type: ts.TypeNode, commented?: ts.Node): ts.TypeNode {
    if (!isStructure(type)) return type
    let unique = name
    for (let count = 2; taken.has(unique); count++) unique = `${name}_${count}`
    taken.add(unique)
    const exported = [factory.createModifier(SyntaxKind.ExportKeyword)]
    const declaration = factory.createTypeAliasDeclaration(exported, unique, undefined, type)
    if (commented !== undefined) moveComments(commented, declaration)
    declarations.push(declaration)
    return factory.createTypeReferenceNode(unique)
  }

  /** Returns a property with a reference to its type under the name. */
  function declared(property: ts.TypeElement, name: string, isCommented = false): ts.TypeElement {
    if (!compiler.isPropertySignature(property) || property.type === undefined) return property
    const { modifiers, questionToken, type } = property
    const reference = named(typeName(name), type, isCommented ? property : undefined)
    if (reference === type) return property
    return factory.updatePropertySignature(property, modifiers, property.name, questionToken, reference)
  }
}

const isStructure = (type: ts.TypeNode): boolean =>
  compiler.isTypeLiteralNode(type) || compiler.isIntersectionTypeNode(type) || compiler.isUnionTypeNode(type)

function moveComments(from: ts.Node, to: ts.Node): void {
  compiler.setSyntheticLeadingComments(to, compiler.getSyntheticLeadingComments(from))
  compiler.setSyntheticLeadingComments(from, undefined)
}
