import type ts from 'typescript'
import { compiler } from './typescript.ts'

const { SyntaxKind } = compiler

const printer = compiler.createPrinter({ newLine: compiler.NewLineKind.LineFeed })
const noFile = compiler.createSourceFile('types.d.ts', '', compiler.ScriptTarget.ESNext)
const printed = (node: ts.Node): string => printer.printNode(compiler.EmitHint.Unspecified, node, noFile)

/**
 * Returns the text of a type, as TypeScript's printer writes it, in a third of the time: that printer keeps the positions
 * of comments and names, which generated nodes do not have. It still writes the kinds of nodes and the literals that this
 * function does not know.
 */
export function textOf(node: ts.Node, indent: string): string {
  if (compiler.isPropertySignature(node)) {
    const name = textOf(node.name, indent)
    const readonly = node.modifiers?.length ? 'readonly ' : ''
    return `${readonly}${name}${node.questionToken ? '?' : ''}: ${textOf(node.type as ts.TypeNode, indent)};`
  }
  if (compiler.isTypeLiteralNode(node)) return membersOf(node.members, indent)
  if (compiler.isStringLiteral(node)) return quoted(node.text)
  if (compiler.isIdentifier(node)) return node.text
  if (compiler.isLiteralTypeNode(node)) return textOf(node.literal, indent)
  if (compiler.isIndexedAccessTypeNode(node))
    return `${textOf(node.objectType, indent)}[${textOf(node.indexType, indent)}]`
  if (compiler.isTypeReferenceNode(node)) return `${textOf(node.typeName, indent)}${argumentsOf(node, indent)}`
  if (compiler.isUnionTypeNode(node)) return listOf(node.types, ' | ', indent)
  if (compiler.isIntersectionTypeNode(node)) return listOf(node.types, ' & ', indent)
  if (compiler.isArrayTypeNode(node)) return `${textOf(node.elementType, indent)}[]`
  if (compiler.isParenthesizedTypeNode(node)) return `(${textOf(node.type, indent)})`
  if (compiler.isIndexSignatureDeclaration(node)) {
    const [key] = node.parameters
    const name = key === undefined ? '' : `${textOf(key.name, indent)}: ${textOf(key.type as ts.TypeNode, indent)}`
    return `[${name}]: ${textOf(node.type, indent)};`
  }
  return keywords.get(node.kind) ?? printed(node)
}

/** Returns a string literal. */
export const quoted = (text: string): string =>
  /^[ !#-[\]-~]*$/.test(text) ? `"${text}"` : printed(compiler.factory.createStringLiteral(text))

/** Returns the name of a member as openapi-typescript writes it: as a number or an identifier where it is one. */
export const keyText = (name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) || (String(Number(name)) === name && !name.startsWith('-')) ? name : quoted(name)

const keywords = new Map<ts.SyntaxKind, string>([
  [SyntaxKind.BigIntKeyword, 'bigint'],
  [SyntaxKind.BooleanKeyword, 'boolean'],
  [SyntaxKind.NeverKeyword, 'never'],
  [SyntaxKind.NullKeyword, 'null'],
  [SyntaxKind.NumberKeyword, 'number'],
  [SyntaxKind.StringKeyword, 'string'],
  [SyntaxKind.UndefinedKeyword, 'undefined'],
  [SyntaxKind.UnknownKeyword, 'unknown'],
])

function membersOf(members: readonly ts.TypeElement[], indent: string): string {
  if (members.length === 0) return '{}'
  const inner = `${indent}    `
  let text = '{\n'
  for (const member of members) text += `${commentsOf(member, inner)}${inner}${textOf(member, inner)}\n`
  return `${text}${indent}}`
}

const listOf = (nodes: readonly ts.Node[], separator: string, indent: string): string =>
  nodes.map((node) => textOf(node, indent)).join(separator)

const argumentsOf = ({ typeArguments }: ts.TypeReferenceNode, indent: string): string =>
  typeArguments === undefined ? '' : `<${listOf(typeArguments, ', ', indent)}>`

/** Returns the comments above a node, each with a line break; their further lines have its indentation, too. */
export function commentsOf(node: ts.Node, indent: string): string {
  const comments = compiler.getSyntheticLeadingComments(node) ?? []
  return comments.map(({ text }) => `${indent}/*${text.replace(/[^\S\n]*\n/g, `\n${indent}`)}*/\n`).join('')
}
