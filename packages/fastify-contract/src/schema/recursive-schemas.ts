import {
  _,
  type Ajv,
  type CodeKeywordDefinition,
  type ErrorObject,
  type KeywordCxt,
  Name,
  type ValidateFunction,
} from 'ajv'
import { and, not, or } from 'ajv/dist/compile/codegen/index.js'
import { resolveRef, SchemaEnv } from 'ajv/dist/compile/index.js'
import { alwaysValidSchema, evaluatedPropsToName, mergeEvaluated, Type } from 'ajv/dist/compile/util.js'
import { noPropertyInData, propertyInData } from 'ajv/dist/vocabularies/code.js'
import { callRef } from 'ajv/dist/vocabularies/core/ref.js'
import { type ConvertedLocations, SharedLocations } from './exact-keywords.ts'

/*
 * Ajv has no public way to change how a recursive $ref is compiled, so this file uses undocumented parts of it:
 * `resolveRef`, `SchemaEnv` and `callRef` of ajv/dist, `_compilations`, and `validate` and `evaluated` of compiled
 * schemas. If a version of Ajv moves them, the service fails at its start or at the first recursive schema. If it
 * changes what they do, recursive schemas take exponential time or lose int64 locations. nested-values.test.ts and
 * validator.test.ts show this.
 */

type Evaluated = NonNullable<ValidateFunction['evaluated']>

/** The function of the schema of a $ref, as the compiled code that calls it sees it. */
type ReferencedFunction = {
  (data: unknown, context: { rootData: object }): boolean
  errors: ErrorObject[] | null
  /** Undefined if no schema of the document has a keyword that needs it. */
  evaluated: Evaluated | undefined
}

type Result = Pick<ReferencedFunction, 'errors' | 'evaluated'> & { isValid: boolean; locations: SharedLocations }

/** The most schemas that Ajv compiles inside of one another. Each takes some fifty frames of the stack. */
const maxNested = 32

/**
 * Makes an Ajv instance validate each object and array of a document at most once against each recursive schema.
 * Without this, a schema that refers to itself twice, such as a union of two alternatives that both recurse, would take
 * time and memory that double with each level of the document. A schema at the end of a long chain of references is
 * treated as a recursive one, so that compiling it does not overflow the stack.
 */
export function addRecursiveSchemas(ajv: Ajv, found: ConvertedLocations): void {
  const reference = ajv.getKeyword('$ref') as CodeKeywordDefinition
  ajv.removeKeyword('$ref').addKeyword({
    ...reference,
    code(context, type) {
      const { gen, it, schema } = context
      const shared = ajv._compilations.size < maxNested ? undefined : ajv.schemas[sharedName(schema)]
      const target = shared ?? resolveRef.call(it.self, it.schemaEnv.root, it.baseId, schema)
      // Either Ajv is still compiling the target, so the reference closes a cycle, or it has not begun.
      const isRecursive = target instanceof SchemaEnv && target.validate === undefined
      if (!isRecursive) reference.code(context, type)
      else {
        const ref = validatedOnce(() => ajv.getSchema(schema) as unknown as ReferencedFunction, found)
        const code = _`validatedOnce(() => ${nameInCode(ajv, schema)}, exact.found)`
        callRef(context, gen.scopeValue('obj', { ref, code }), target)
      }
    },
  })
}

/** Returns the name of the shared schema to which a $ref refers. */
const sharedName = (ref: string): string => ref.slice(0, -1)

/** Returns the name that compiled code has for the validator of a shared schema, which may not be compiled yet. */
const nameInCode = (ajv: Ajv, ref: string): Name =>
  new Name(codeName(Object.keys(ajv.schemas).indexOf(sharedName(ref))))

/** Returns the name that compiled code has for the validator of a shared schema, by its position among them. */
export const codeName = (position: number): string => `shared${position}`

/** Returns the validation of a schema, which keeps its results for each document. `target` returns its function. */
export function validatedOnce(target: () => ReferencedFunction, found: ConvertedLocations): ReferencedFunction {
  const resultsOf = new WeakMap<object, Map<object, Result>>()

  function validated(data: unknown, context: { rootData: object }): Result {
    const validate = target()
    const before = found.length
    const isValid = validate(data, context)
    return {
      isValid,
      errors: validate.errors,
      evaluated: validate.evaluated,
      locations: new SharedLocations(found.splice(before)),
    }
  }

  const once = ((data, context) => {
    let results = resultsOf.get(context.rootData)
    if (results === undefined) {
      results = new Map()
      resultsOf.set(context.rootData, results)
    }
    const known = results.get(data as object)
    const { isValid, errors, evaluated, locations } = known ?? validated(data, context)
    // Results are kept by identity, which only objects and arrays have.
    if (known === undefined && typeof data === 'object' && data !== null) {
      // One error is enough where the same value fails again: lists of all would double with each level.
      results.set(data, { isValid, errors: errors?.slice(0, 1) ?? null, evaluated: copyOf(evaluated), locations })
    }
    if (isValid && locations.list.length > 0) found.push(context.rootData, locations)
    once.errors = errors
    once.evaluated = copyOf(evaluated)
    return isValid
  }) as ReferencedFunction
  return once
}

/** Copies what was evaluated, because compiled code changes it. */
function copyOf(evaluated: Evaluated | undefined): Evaluated | undefined {
  if (evaluated === undefined) return undefined
  const { props, ...others } = evaluated
  return { ...others, props: typeof props === 'object' ? { ...props } : props } as Evaluated
}

/*
 * Ajv 8 errs in what it passes to unevaluatedProperties and unevaluatedItems. It counts what a failed `if` has
 * evaluated, and not what an `if` without branches has. It counts all items beside `contains`. What a branch has
 * evaluated stays for the next item of an array, or is lost when the branch fails. The keywords of this file do not.
 */

/** Keywords whose subschemas may fail although the value is valid, so that only the valid ones evaluate members. */
const conditional = ['anyOf', 'oneOf', 'if', 'dependentSchemas', 'dependencies']

/** Corrects what unevaluatedProperties and unevaluatedItems know of the other keywords (JSON Schema core, section 11). */
export function addEvaluatedKeywords(ajv: Ajv): void {
  const replace = (keyword: string, code: ReplacedCode) => {
    const now = ajv.getKeyword(keyword) as CodeKeywordDefinition
    const definition = { ...now, code: (context: KeywordCxt, type?: string) => code(context, now, type) }
    // A keyword that is added again would run last.
    const before = [now.type].flat().includes('object') ? { before: 'unevaluatedProperties' } : {}
    ajv.removeKeyword(keyword).addKeyword({ ...definition, ...before })
  }
  for (const keyword of conditional) replace(keyword, keyword === 'if' ? ifCode : conditionalCode)
  replace('patternProperties', patternPropertiesCode)
  replace('unevaluatedItems', unevaluatedItemsCode)
  replace('contains', containsCode)
}

/** Writes the code of a keyword instead of its own definition, which is `now`. */
type ReplacedCode = (context: KeywordCxt, now: CodeKeywordDefinition, type?: string) => void

function conditionalCode(context: KeywordCxt, now: CodeKeywordDefinition, type?: string): void {
  keepEvaluated(context)
  now.code(context, type as never)
}

function patternPropertiesCode(context: KeywordCxt, now: CodeKeywordDefinition, type?: string): void {
  // Ajv would set members of `true`, which stands for all properties.
  const { gen, it } = context
  const { props } = it
  const isNamed = props instanceof Name
  if (isNamed) Object.assign(it, { props: undefined })
  now.code(context, type as never)
  if (!isNamed) return
  if (it.props !== undefined) it.props = mergeEvaluated.props(gen, it.props, props)
  else Object.assign(it, { props })
}

function containsCode(context: KeywordCxt, now: CodeKeywordDefinition, type?: string): void {
  // normalize.ts adds its schema to unevaluatedItems, which then accepts the items that match.
  const { items } = context.it
  now.code(context, type as never)
  Object.assign(context.it, { items })
}

/** Declares what has been evaluated so far, outside of the blocks that add to it. */
function keepEvaluated({ gen, it }: KeywordCxt): void {
  if (!it.opts.unevaluated) return
  if (it.props !== true && !(it.props instanceof Name)) it.props = evaluatedPropsToName(gen, it.props)
  if (it.items !== true && !(it.items instanceof Name)) it.items = gen.var('items', it.items ?? 0)
}

function ifCode(context: KeywordCxt): void {
  keepEvaluated(context)
  const { gen, it } = context
  const has = (keyword: string) => it.schema[keyword] !== undefined && !alwaysValidSchema(it, it.schema[keyword])
  const [hasThen, hasElse] = [has('then'), has('else')]
  if (!hasThen && !hasElse && !it.opts.unevaluated) return
  const valid = gen.let('valid', true)
  const branchValid = gen.name('_valid')
  const condition = { keyword: 'if', compositeRule: true, createErrors: false, allErrors: false } as const
  context.mergeValidEvaluated(context.subschema(condition, branchValid), branchValid)
  context.reset()
  const branch = (keyword: string) => () => {
    const compiled = context.subschema({ keyword }, branchValid)
    gen.assign(valid, branchValid)
    context.mergeValidEvaluated(compiled, valid)
  }
  if (hasThen && hasElse) gen.if(branchValid, branch('then'), branch('else'))
  else if (hasThen) gen.if(branchValid, branch('then'))
  else if (hasElse) gen.if(not(branchValid), branch('else'))
  context.setParams({ ifClause: _`""` })
  context.pass(valid, () => context.error(true))
}

/** Unlike that of Ajv, the code knows that the number of evaluated items may be `true` at run time: all of them. */
function unevaluatedItemsCode(context: KeywordCxt): void {
  const { gen, schema, data, it } = context
  const { items = 0 } = it
  if (items !== true && !alwaysValidSchema(it, schema)) {
    const len = gen.const('len', _`${data}.length`)
    const start = items instanceof Name ? gen.const('start', _`${items} === true ? ${len} : ${items}`) : items
    context.setParams({ len: start })
    if (schema === false) context.fail(_`${len} > ${start}`)
    else {
      const valid = gen.var('valid', true)
      gen.forRange('i', start as Name, len, (i) => {
        context.subschema({ keyword: 'unevaluatedItems', dataProp: i, dataPropType: Type.Num }, valid)
        if (!it.allErrors) gen.if(not(valid), () => gen.break())
      })
      context.ok(valid)
    }
  }
  it.items = true
}

/** Makes `required` and `dependentRequired` demand the name "", which Ajv 8 ignores unless it describes all errors. */
export function addEmptyNames(ajv: Ajv): void {
  for (const [keyword, code] of Object.entries({ required: requiredCode, dependentRequired: dependentRequiredCode })) {
    const definition = ajv.getKeyword(keyword) as CodeKeywordDefinition
    const { code: now } = definition
    // Changed in place, since a keyword that is added again would run last.
    Object.assign(definition, { code: (context: KeywordCxt) => code(context, now) })
  }
}

function requiredCode(context: KeywordCxt, now: CodeKeywordDefinition['code']): void {
  const { schema, gen, data, it } = context
  // A validator without errors need not know which name is missing. For long lists, Ajv writes a loop.
  if (it.createErrors === false && schema.length > 0 && schema.length < it.opts.loopRequired) {
    context.fail(or(...schema.map((name: never) => noPropertyInData(gen, data, name, it.opts.ownProperties))))
    return
  }
  if (schema.includes('')) failWithout(context, '')
  now(withSchema(context, schema.filter(isNotEmpty)))
}

function dependentRequiredCode(context: KeywordCxt, now: CodeKeywordDefinition['code']): void {
  const entries = Object.entries<string[]>(context.schema)
  for (const [property, names] of entries) {
    if (!names.includes('')) continue
    context.setParams({ property, depsCount: names.length, deps: names.join(', ') })
    failWithout(context, '', property)
  }
  now(withSchema(context, Object.fromEntries(entries.map(([name, names]) => [name, names.filter(isNotEmpty)]))))
}

const isNotEmpty = (name: string): boolean => name !== ''

/** Adds the code of a failure if an object lacks a member, and has the member `present`. */
function failWithout(context: KeywordCxt, name: string, present?: string): void {
  const { gen, data, it } = context
  const { ownProperties } = it.opts
  const isMissing = noPropertyInData(gen, data, name as never, ownProperties)
  context.setParams({ missingProperty: _`${name}` }, true)
  context.fail(
    present === undefined
      ? isMissing
      : and(propertyInData(gen, data, present as never, ownProperties), _`(${isMissing})`),
  )
}

const withSchema = (context: KeywordCxt, schema: unknown): KeywordCxt => Object.assign(context, { schema })
