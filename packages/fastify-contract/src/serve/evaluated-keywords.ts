import { _, type Ajv, type CodeKeywordDefinition, type KeywordCxt, Name } from 'ajv'
import { not } from 'ajv/dist/compile/codegen/index.js'
import { alwaysValidSchema, evaluatedPropsToName, mergeEvaluated, Type } from 'ajv/dist/compile/util.js'

/*
 * Ajv 8 errs in what it passes to unevaluatedProperties and unevaluatedItems. It counts what a failed `if` has
 * evaluated, and not what an `if` without branches has. It counts all items beside `contains`. What a branch has
 * evaluated stays for the next item of an array, or is lost when the branch fails. The keywords of this file do not.
 */

/** Keywords whose subschemas may fail although the value is valid, so that only the valid ones evaluate members. */
const conditional = ['anyOf', 'oneOf', 'if', 'dependentSchemas', 'dependencies']

/** Corrects what unevaluatedProperties and unevaluatedItems know of the other keywords (JSON Schema core, section 11). */
export function addEvaluatedKeywords(ajv: Ajv): void {
  const replace = (keyword: string, code: (context: KeywordCxt, now: CodeKeywordDefinition, type?: string) => void) => {
    const now = ajv.getKeyword(keyword) as CodeKeywordDefinition
    const definition = { ...now, code: (context: KeywordCxt, type?: string) => code(context, now, type) }
    // A keyword that is added again would run last.
    const before = [now.type].flat().includes('object') ? { before: 'unevaluatedProperties' } : {}
    ajv.removeKeyword(keyword).addKeyword({ ...definition, ...before })
  }
  for (const keyword of conditional) {
    replace(keyword, (context, now, type) => {
      keepEvaluated(context)
      if (keyword === 'if') ifCode(context)
      else now.code(context, type as never)
    })
  }
  replace('patternProperties', (context, now, type) => {
    // Ajv would set members of `true`, which stands for all properties.
    const { gen, it } = context
    const { props } = it
    if (!(props instanceof Name)) return now.code(context, type as never)
    Object.assign(it, { props: undefined })
    now.code(context, type as never)
    if (it.props !== undefined) it.props = mergeEvaluated.props(gen, it.props, props)
    else Object.assign(it, { props })
  })
  replace('unevaluatedItems', unevaluatedItemsCode)
  replace('contains', (context, now, type) => {
    // normalize.ts adds its schema to unevaluatedItems, which then accepts the items that match.
    const { items } = context.it
    now.code(context, type as never)
    Object.assign(context.it, { items })
  })
}

/** Declares what has been evaluated so far, outside of the blocks that add to it. */
function keepEvaluated({ gen, it }: KeywordCxt): void {
  if (!it.opts.unevaluated) return
  if (it.props !== true && !(it.props instanceof Name)) it.props = evaluatedPropsToName(gen, it.props)
  if (it.items !== true && !(it.items instanceof Name)) it.items = gen.var('items', it.items ?? 0)
}

function ifCode(context: KeywordCxt): void {
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
