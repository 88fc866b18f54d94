import { _, type Ajv, type CodeKeywordDefinition, type ErrorObject, Name, type ValidateFunction } from 'ajv'
import { resolveRef, SchemaEnv } from 'ajv/dist/compile/index.js'
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

/** The part of a compiled function that compiled code uses. */
type Validate = {
  (data: unknown, context: { rootData: object }): boolean
  errors: ErrorObject[] | null
  /** Undefined if no schema of the document has a keyword that needs it. */
  evaluated: Evaluated | undefined
}

type Result = Pick<Validate, 'errors' | 'evaluated'> & { isValid: boolean; locations: SharedLocations }

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
        const ref = validatedOnce(() => ajv.getSchema(schema) as unknown as Validate, found)
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
export function validatedOnce(target: () => Validate, found: ConvertedLocations): Validate {
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
  }) as Validate
  return once
}

/** Copies what was evaluated, because compiled code changes it. */
function copyOf(evaluated: Evaluated | undefined): Evaluated | undefined {
  if (evaluated === undefined) return undefined
  const { props, ...others } = evaluated
  return { ...others, props: typeof props === 'object' ? { ...props } : props } as Evaluated
}
