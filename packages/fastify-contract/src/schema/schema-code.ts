import { Script } from 'node:vm'
import type { Ajv } from 'ajv'
import type { ValueScopeName } from 'ajv/dist/compile/codegen/index.js'
import type { SchemaEnv } from 'ajv/dist/compile/index.js'
import equal from 'ajv/dist/runtime/equal.js'
import ucs2length from 'ajv/dist/runtime/ucs2length.js'
import { isRange, kindOf } from '../contract/media-types.ts'
import type { Operation, Routes, SchemaCode } from '../contract/routes.ts'
import type { Schema } from '../contract/schema-keywords.ts'
import { withoutPath } from './early-returns.ts'
import { type ConvertedLocations, exactFunctions } from './exact-keywords.ts'
import { codeName, validatedOnce } from './recursive-schemas.ts'
import { type SerializeIfValid, SerializerGenerator, serializerFunctions } from './serializer-code.ts'
import { compilePattern, formats } from './string-keywords.ts'
import { type CompiledFunction, type CompiledSchemas, compileSchema, newAjv, withoutErrors } from './validator.ts'

/*
 * The schemas of a document are compiled when its files are generated, because compiling a schema takes milliseconds.
 * The code is the expression of a function. It gets the functions that compiled schemas call, and returns the functions
 * of the schemas of all operations, in the order of `schemasOf`.
 */

/** Returns the code of the schemas of all operations. */
export function schemaCode(routes: Routes): string {
  const { validated, serialized } = schemasOf(routes)
  const serializers = new SerializerGenerator(routes.schemas)
  const serializerNames = serialized.map((schema) => serializers.nameOf(schema))
  const serializerCode = serializers.code()
  const unproven = serializers.unproven()
  const validators = validatorWriter(routes)
  const validatorNames = [
    ...validated.map(validators.nameOf),
    // The other serializers need a validator only for an invalid response, which then compiles it.
    ...serialized.map((schema, index) =>
      unproven.has(serializerNames[index] as string) ? validators.nameOf(schema) : '',
    ),
  ]
  return `(function (${Object.keys(functionsFor([], routes)).join(', ')}) {
"use strict"
${validators.code()}
${serializerCode}
return {
validators: [${validatorNames.join()}],
serializers: [${serializerNames.join()}],
}
})`
}

/** Returns the function whose code `schemaCode` wrote, as an import of the generated module does. */
export const evaluateSchemaCode = (text: string): SchemaCode => new Script(text).runInThisContext()

/** Returns the functions of the schemas of these routes. V8 compiles each at its first call. */
export function loadSchemaCode(code: SchemaCode, routes: Routes): CompiledSchemas {
  const found: ConvertedLocations = []
  const functions = functionsFor(found, routes)
  const { validators, serializers } = code(...Object.values(functions))
  const { validated, serialized } = schemasOf(routes)
  const bySchema = <Made>(schemas: Schema[], made: Made[]) =>
    new Map(schemas.map((schema, index) => [schema, made[index] as Made]))
  return {
    found,
    validators: bySchema([...validated, ...serialized], validators as CompiledFunction[]),
    serializers: bySchema(serialized, serializers as SerializeIfValid[]),
  }
}

/** Returns what the code refers to, by name. */
const functionsFor = (found: ConvertedLocations, { schemas }: Routes) => ({
  schemas,
  exact: exactFunctions(found),
  validatedOnce,
  formats,
  compilePattern,
  require: (name: string) => ajvRuntime[name],
  ...serializerFunctions,
})

/** The modules of Ajv that compiled schemas load. */
const ajvRuntime: Record<string, unknown> = {
  'ajv/dist/runtime/equal': equal,
  'ajv/dist/runtime/ucs2length': ucs2length,
}

/** Writes the code of validators. */
type ValidatorWriter = {
  /** Returns the name of the validator of a schema. */
  nameOf(schema: Schema): string
  /** Returns the code of all validators that were named. */
  code(): string
}

/** Returns a writer of the code of validators. Equal schemas share one. */
function validatorWriter({ operations, schemas }: Routes): ValidatorWriter {
  const ajv = newAjv(schemas, [], 'none')
  const names = namesIn([operations, schemas])
  // Only these keywords need the code that keeps which members have been evaluated, a sixth of the whole.
  ajv.opts.unevaluated = names.has('unevaluatedItems') || names.has('unevaluatedProperties')
  // Ajv looks for each keyword in each schema.
  for (const keyword of Object.keys(ajv.RULES.all)) {
    if (!names.has(keyword) && keyword !== withoutErrors.keyword) ajv.removeKeyword(keyword)
  }
  const values = valuesOf(ajv.scope)
  const functions = new Map<string, WrittenFunction>()
  ajv.opts.code.process = (code, environment) => {
    const written = withoutPath(code.slice('return '.length))
    functions.set(String(environment?.validateName), { code: written, environment: environment as SchemaEnv })
    // Nothing calls the function here, and V8 would parse the whole code.
    return 'return () => {}'
  }
  const nameIn = (schema: Schema) => String((compileSchema(ajv, schema).schemaEnv as SchemaEnv).validateName)
  const sharedNames = new Map(Object.keys(schemas).map((name, index) => [codeName(index), name]))
  /** Returns the code of a value outside of functions; undefined for a function. */
  const codeOf = (name: string): string | undefined => {
    const shared = sharedNames.get(name)
    if (shared !== undefined) return nameIn({ $ref: `${shared}#` })
    const known = values.get(name)
    // Ajv would write each schema that it compiles, but few are named.
    return known?.prefix === 'schema' ? JSON.stringify(known.value?.ref) : known?.value?.code?.toString()
  }
  const named = new Map<string, string>()
  return {
    nameOf(schema) {
      const text = JSON.stringify(schema)
      const name = named.get(text) ?? nameIn(schema)
      named.set(text, name)
      return name
    },
    code() {
      const written = new Set<string>()
      const lines: string[] = []
      // A set, whose iteration includes the names that are added meanwhile: recursion would follow long chains of schemas.
      const reached = new Set(named.values())
      /** Writes the values that a code names, and adds the functions. */
      const writeNamed = (code: string): void => {
        for (const name of new Set(code.match(outerName))) {
          if (functions.has(name)) reached.add(name)
          const value = written.has(name) ? undefined : codeOf(name)
          if (value === undefined) continue
          written.add(name)
          writeNamed(value)
          lines.push(`const ${name} = ${value}`)
        }
      }
      for (const name of reached) {
        const { code, environment } = functions.get(name) as WrittenFunction
        writeNamed(code)
        lines.push(code)
        const evaluated = environment.validate?.evaluated
        if (evaluated !== undefined) lines.push(`${name}.evaluated = ${JSON.stringify(evaluated)}`)
      }
      return lines.join('\n')
    },
  }
}

/** A compiled function: its code, and what Ajv keeps of it. */
type WrittenFunction = { code: string; environment: SchemaEnv }

/** Matches the name of a value outside of functions. */
const outerName = /\b(?:schema|pattern|formats|func|obj|validate|shared)\d+\b/g

/** Returns the values that the scope of all functions gets from now on, by name. */
function valuesOf(scope: Ajv['scope']): Map<string, ValueScopeName> {
  const values = new Map<string, ValueScopeName>()
  const nameOf = scope.value.bind(scope)
  scope.value = function rememberValue(prefix, value) {
    const name = nameOf(prefix, value)
    values.set(name.str, name)
    return name
  }
  return values
}

/** Returns the names of all members in a JSON value. */
function namesIn(value: unknown, names = new Set<string>()): Set<string> {
  if (typeof value !== 'object') return names
  for (const name in value) {
    if (!Array.isArray(value)) names.add(name)
    namesIn(value[name as never], names)
  }
  return names
}

/**
 * Returns the schemas of all operations, in the order of the document: those that only a validator reads, such as the
 * schemas of requests, and those of the bodies that a serializer writes.
 */
function schemasOf({ operations }: Routes): { validated: Schema[]; serialized: Schema[] } {
  const validated: Schema[] = []
  const texts: Schema[] = []
  const serialized: Schema[] = []
  for (const operation of operations) {
    validated.push(...requestSchemas(operation))
    for (const { headers = {}, content = {} } of Object.values(operation.schema.response)) {
      validated.push(...Object.values(headers))
      for (const [mediaType, { schema }] of Object.entries(content)) {
        const kind = kindOf(mediaType)
        if (kind === 'text') texts.push(schema)
        if (isRange(mediaType) || (kind !== 'text' && kind !== 'bytes')) serialized.push(schema)
      }
    }
  }
  return { validated: [...validated, ...texts], serialized }
}

function requestSchemas({ forms = {}, schema }: Operation): Schema[] {
  const { params, querystring, headers, cookies, body } = schema
  const schemas = [params, querystring, headers, cookies].filter((each) => each !== undefined)
  for (const content of Object.values(body?.content ?? {})) schemas.push(content.schema)
  for (const { fields, otherParts } of Object.values(forms)) {
    for (const { part } of otherParts === undefined ? fields : [...fields, otherParts.field])
      if (part !== undefined) schemas.push(part.schema)
  }
  return schemas
}
