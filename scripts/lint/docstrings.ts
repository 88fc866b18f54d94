import ts from 'typescript'

/** Openings that say too little of what a function does. */
const vagueOpenings = new Set(['Takes', 'Gives', 'Tells', 'Hears', 'Does'])

/** Words that end in "s" and are no verb in the third person. */
const otherWords = new Set(['Always', 'As', 'Its', 'Plus', 'This', 'Thus', 'Us'])

/**
 * Returns a message for each exported function of a module whose docstring is missing, or does not begin with a verb in
 * the third person.
 */
export function docstringProblems(path: string, text: string): string[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const openings = new Map<string, { line: number; opening: string }>()
  for (const statement of source.statements) {
    const name = isExported(statement) ? functionName(statement) : undefined
    if (name === undefined) continue
    const line = source.getLineAndCharacterOfPosition(statement.getStart()).line + 1
    const { opening = '' } = openings.get(name) ?? {}
    // One docstring is enough for all overloads.
    openings.set(name, { line, opening: opening || docstring(statement) })
  }
  return Array.from(openings, ([name, { line, opening }]) => {
    const problem = openingProblem(opening)
    return problem === undefined ? [] : [`${path}:${line}: ${name} ${problem}`]
  }).flat()
}

function openingProblem(text: string): string | undefined {
  if (text === '') return 'has no docstring; write one that begins with a verb in the third person ("Returns …")'
  const [word = ''] = /^\S+/.exec(text) ?? []
  const verb = word.replace(/[.,;:]$/, '')
  if (/^[A-Z][\w-]*s$/.test(verb) && !vagueOpenings.has(verb) && !otherWords.has(verb)) return undefined
  return `has a docstring that begins with "${word}"; begin with a verb in the third person that names the action ("Returns …")`
}

const isExported = (statement: ts.Statement): boolean =>
  ts.canHaveModifiers(statement) &&
  (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)

/** Returns the name of a function that a statement declares, as a declaration or as a constant. */
function functionName(statement: ts.Statement): string | undefined {
  if (ts.isFunctionDeclaration(statement)) return statement.name?.text ?? 'default'
  if (!ts.isVariableStatement(statement)) return undefined
  const [declaration] = statement.declarationList.declarations
  const value = declaration?.initializer
  if (value === undefined || !(ts.isArrowFunction(value) || ts.isFunctionExpression(value))) return undefined
  return declaration?.name.getText()
}

/** Returns the text of the docstring before its first tag. */
const docstring = (statement: ts.Statement): string =>
  ts
    .getJSDocCommentsAndTags(statement)
    .filter(ts.isJSDoc)
    .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '')
    .join('\n')
    .trim()
