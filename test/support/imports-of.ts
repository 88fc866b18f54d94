import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'

/** A module that another one loads or refers to. */
export type Import = {
  /** The path of the module in the repository, or the name of a package. */
  to: string
  /** Whether only types are imported, so that nothing is loaded. */
  isType: boolean
}

/** Functions that load the module that their first argument names. */
const loaders = new Set(['import', 'require', 'fork', 'Worker', 'register', 'import.meta.resolve', 'resolve'])

/**
 * Returns every import of a module: import and export declarations, side-effect imports, `import()`, `require`, import
 * types, and modules that run in a worker or a child process. A path is found as a string, and in `new URL(path,
 * import.meta.url)` whatever it is used for.
 *
 * @param file The path of the module in the repository.
 */
export function importsOf(file: string, text: string): Import[] {
  const found: Import[] = []
  const add = (specifier: ts.Node | undefined, isType: boolean) => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return
    const { text: name } = specifier
    found.push({ to: /^\.{0,2}\//.test(name) ? normalize(join(dirname(file), name)) : name, isType })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeImport(node.importClause))
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly || areTypes(node.exportClause))
    else if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) {
      add(node.moduleReference.expression, node.isTypeOnly)
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true)
    else if (ts.isNewExpression(node) && node.expression.getText() === 'URL') {
      if (node.arguments?.[1]?.getText() === 'import.meta.url') add(node.arguments[0], false)
    } else if ((ts.isCallExpression(node) || ts.isNewExpression(node)) && loaders.has(calleeOf(node))) {
      add(node.arguments?.[0], false)
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true))
  return found
}

const calleeOf = ({ expression }: ts.CallExpression | ts.NewExpression): string =>
  ts.isPropertyAccessExpression(expression) && expression.expression.getText() !== 'import.meta'
    ? expression.name.text
    : expression.getText()

function isTypeImport(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true
  return clause.name === undefined && areTypes(clause.namedBindings)
}

const areTypes = (bindings: ts.Node | undefined): boolean =>
  bindings !== undefined &&
  (ts.isNamedImports(bindings) || ts.isNamedExports(bindings)) &&
  bindings.elements.length > 0 &&
  bindings.elements.every(({ isTypeOnly }) => isTypeOnly)
