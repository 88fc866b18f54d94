import { _, type Ajv, type CodeGen, type CodeKeywordDefinition, type KeywordCxt, Name } from 'ajv'
import { _Code } from 'ajv/dist/compile/codegen/code.js'
import names from 'ajv/dist/compile/names.js'

/*
 * Ajv collects errors, and nests the code of each keyword in the success of those before it. A validator that describes no
 * errors needs neither: outside of alternatives, each failure returns. Its code is half as long. This file uses
 * undocumented parts of Ajv: `names`, `errorPath`, and the members of KeywordCxt. If a version of Ajv writes its code in
 * other words, `shortened` leaves these as they are. The optimizer of Ajv copies the names of each block into those of the
 * blocks around it, two fifths of the time of a large document; this file counts them once.
 */

/** Keywords of other versions of JSON Schema, and of references that `generate` resolves. Ajv passes on a map for them. */
const dynamicKeywords = ['$dynamicAnchor', '$dynamicRef', '$recursiveAnchor', '$recursiveRef']

/** Makes an Ajv instance write validators that return at the first failure. They describe no errors. */
export function addEarlyReturns(ajv: Ajv): void {
  for (const keyword of dynamicKeywords) ajv.removeKeyword(keyword)
  ajv.opts.dynamicRef = false
  for (const { rules } of [...ajv.RULES.rules, ajv.RULES.post])
    for (const { definition } of rules) replaceCode(definition)
}

function replaceCode(definition: object): void {
  const { code } = definition as Partial<CodeKeywordDefinition>
  if (code === undefined) return
  const codeWithoutErrors = (context: KeywordCxt, type?: string) => {
    returnEarly(context)
    code(context, type as never)
  }
  Object.assign(definition, { code: codeWithoutErrors })
}

function returnEarly(context: KeywordCxt): void {
  const { gen, it } = context
  Object.assign(gen, { optimize })
  // Ajv then writes what follows behind the code of this keyword instead of into it. A failure still returns.
  if (!it.compositeRule) Object.assign(context, { allErrors: true })
  // Only errors contain the path of a value.
  Object.assign(it, { errorPath: _`""` })
  const failResult = context.failResult.bind(context)
  // Without the third argument, which adds the errors of the schemas of a keyword.
  context.failResult = (condition, onSuccess) => failResult(condition, onSuccess)
  context.reset = () => gen.assign(names.default.errors, context.errsCount as never)
}

/** A part of the code that Ajv is writing, which removes what has no effect from itself. */
type CodeNode = { optimizeNodes(): void; optimizeNames(counts: Record<string, number>, constants: unknown): void }

/** Removes what has no effect from the code of a function, as the method of Ajv of this name does. */
function optimize(this: CodeGen): void {
  const { _root, _constants } = this as unknown as { _root: CodeNode; _constants: unknown }
  _root.optimizeNodes()
  const counts: Record<string, number> = Object.create(null)
  countNames(_root, counts)
  _root.optimizeNames(counts, _constants)
}

/** Adds how often a part of the code reads each name. */
function countNames(part: unknown, counts: Record<string, number>): void {
  if (part instanceof Name) counts[part.str] = (counts[part.str] ?? 0) + 1
  else if (part instanceof _Code) {
    for (const item of part._items) if (item instanceof Name) counts[item.str] = (counts[item.str] ?? 0) + 1
  } else if (Array.isArray(part)) for (const each of part) countNames(each, counts)
  else if (typeof part === 'object' && part !== null) countNamesOfNode(part as Record<string, unknown>, counts)
}

function countNamesOfNode(node: Record<string, unknown>, counts: Record<string, number>): void {
  for (const property in node) {
    const value = node[property]
    // A node that declares a name or assigns to it does not read it.
    if (!written.has(property) || (property === 'lhs' && !(value instanceof Name))) countNames(value, counts)
  }
}

/** The properties of nodes that are names, but not of values that the code reads. */
const written = new Set(['name', 'lhs', 'args', 'label', 'varKind'])

/** A text of the document, which may look like code. */
const literal = String.raw`"(?:[^"\\]|\\.)*"`

/** Matches the name of a property that objects do not inherit (see `withDoubles`). */
const notInherited = `(?!"(?:${Object.getOwnPropertyNames(Object.prototype).join('|')})")${literal}`
const isOwn = String.raw`func\d+\.call\(data\d*, ${notInherited}\)`

/** What has no effect in the code of a validator without errors. */
const needless = [
  // The object of an error, before the code that counts it.
  String.raw`const (?<error>err\d+) = \{\};if\(vErrors === null\)\{vErrors = \[\k<error>\];\}else \{vErrors\.push\(\k<error>\);\}`,
  // The errors that a result has.
  String.raw`validate\d+\.errors = (?:\[\{\}\]|vErrors);`,
  // The path of a value.
  String.raw`(?<=\{)instancePath(?:="")?, ?`,
  // Whether a property is an own one.
  ` && ${isOwn}`,
  String.raw` \|\| \(!\(${isOwn}\)\)`,
]

/** Matches a condition that holds, since nothing is between it and the declaration of its name. */
const unchanged = String.raw`(?<before>const (?<count>_errs\d+) = errors;)if\(errors === \k<count>\)(?<block>\{)`

const parts = new RegExp(`(?<text>${literal})|${unchanged}|${needless.join('|')}`, 'g')

const declaration = 'let vErrors = null;'

/** Removes what has no effect from the code of a validator that `addEarlyReturns` prepared, half of the whole. */
export function shortened(code: string): string {
  const short = code.replace(parts, '$<text>$<before>$<block>')
  const unused = short.replace(declaration, '')
  return unused.includes('vErrors') ? short : unused
}
