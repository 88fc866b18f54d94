import { _, type Ajv, type CodeGen, type CodeKeywordDefinition, type KeywordCxt, Name, nil } from 'ajv'
import { _Code } from 'ajv/dist/compile/codegen/code.js'
import names from 'ajv/dist/compile/names.js'

/*
 * Ajv collects errors, and nests the code of each keyword in the success of those before it. A validator that describes no
 * errors needs neither: outside of alternatives, each failure returns. Its code is half as long. This file uses
 * undocumented parts of Ajv: `names`, `errorPath`, and the members of KeywordCxt and CodeGen. If a version of Ajv writes
 * its code in other words, these stay as they are. The optimizer of Ajv copies the names of each block into those of the
 * blocks around it, two fifths of the time of a large document; this file counts them once.
 */

/** Keywords of other versions of JSON Schema, and of references that `generate` resolves. Ajv passes on a map for them. */
const dynamicKeywords = ['$dynamicAnchor', '$dynamicRef', '$recursiveAnchor', '$recursiveRef']

/** Makes an Ajv instance write validators that return at the first failure. They describe no errors. */
export function addEarlyReturns(ajv: Ajv): void {
  for (const keyword of dynamicKeywords) ajv.removeKeyword(keyword)
  ajv.opts.dynamicRef = false
  // The options as they are when a schema is compiled, but for one.
  const withInherited = Object.create(ajv.opts, { ownProperties: { value: false } })
  const optionsFor = (value: unknown) => (hasInheritedName(value) ? ajv.opts : withInherited)
  for (const { rules } of [...ajv.RULES.rules, ajv.RULES.post])
    for (const { definition } of rules) replaceCode(definition, optionsFor)
}

function replaceCode(definition: object, optionsFor: (value: unknown) => Ajv['opts']): void {
  const { code } = definition as Partial<CodeKeywordDefinition>
  if (code === undefined) return
  const codeWithoutErrors = (context: KeywordCxt, type?: string) => {
    returnEarly(context)
    Object.assign(context.it, { opts: optionsFor(context.schema) })
    code(context, type as never)
  }
  Object.assign(definition, { code: codeWithoutErrors })
}

/** The names that every object inherits (see `withDoubles`). A member with another name is an own one. */
const inheritedNames = new Set<unknown>(Object.getOwnPropertyNames(Object.prototype))

/** Returns whether the value of a keyword contains the name of a property that objects inherit. */
function hasInheritedName(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((name) => inheritedNames.has(name))
  if (typeof value !== 'object' || value === null) return false
  return Object.keys(value).some((name) => inheritedNames.has(name) || isListWithInherited(value[name as never]))
}

const isListWithInherited = (value: unknown): boolean => Array.isArray(value) && hasInheritedName(value)

function returnEarly(context: KeywordCxt): void {
  const { gen, it } = context
  if (gen.optimize !== optimize) Object.assign(gen, countingOnly(gen, it.opts.code.process !== undefined))
  // Ajv then writes what follows behind the code of this keyword instead of into it. A failure still returns.
  if (!it.compositeRule) Object.assign(context, { allErrors: true })
  // Only errors contain the path of a value.
  Object.assign(it, { errorPath: _`""` })
  const failResult = context.failResult.bind(context)
  // Without the third argument, which adds the errors of the schemas of a keyword.
  context.failResult = (condition, onSuccess) => failResult(condition, onSuccess)
  context.reset = () => gen.assign(errors, context.errsCount as never)
  const subschema = context.subschema.bind(context)
  context.subschema = function compileSubschema(application, valid) {
    const outer = alternatives.has(gen)
    if (application.compositeRule) alternatives.add(gen)
    const compiled = subschema(application, valid)
    if (!outer) alternatives.delete(gen)
    return compiled
  }
}

/** The code that is being written for an alternative, where a failure does not return. */
const alternatives = new WeakSet<CodeGen>()

const { errors, instancePath, vErrors } = names.default

/** Returns methods for the code of a function that only counts errors. */
function countingOnly(gen: CodeGen, isProcessed: boolean): Partial<CodeGen> {
  const { prototype } = gen.constructor as { prototype: CodeGen }
  return {
    optimize,
    // The code that a process gets need not find values in Ajv.
    ...(isProcessed && { scopeRefs: () => nil }),
    // The list of the errors of the function.
    assign: (target, ...rest) =>
      itemsOf(target).at(-1) === '.errors' ? gen : prototype.assign.call(gen, target, ...rest),
    const: (name, ...rest) => (name === 'err' ? vErrors : prototype.const.call(gen, name, ...rest)),
    if(condition, ...rest) {
      if (itemsOf(condition)[1] === vErrors) return gen
      const isTrue = hasNoFailure(condition) && !alternatives.has(gen)
      return prototype.if.call(gen, isTrue || condition, ...rest)
    },
    object: (...members) => prototype.object.call(gen, ...members.filter(([name]) => name !== instancePath)),
  }
}

const itemsOf = (code: unknown): readonly unknown[] => (code instanceof _Code ? code._items : [])

/** Returns whether a condition tells that nothing has failed so far. */
function hasNoFailure(condition: unknown): boolean {
  const [, first, relation] = itemsOf(condition)
  return first === errors && relation === ' === '
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

/** Returns the code of a function without the parameter that only errors need. */
export const withoutPath = (code: string): string => code.replace(`${instancePath}="", `, '')
