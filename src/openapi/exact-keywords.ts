import { _, type Ajv, type CodeKeywordDefinition, type ErrorObject, type KeywordCxt, str } from 'ajv'
import { exactInteger } from '../json/exact-integer.ts'
import { inexactNumber } from '../json/parse-json.ts'

/** An integer that was found: the object or array that holds it, its key there, and what a handler gets for it. */
export type Conversion = [holder: Record<string | number, unknown>, key: string | number, value: bigint | number]

const bounds = { int32: [-(2n ** 31n), 2n ** 31n - 1n], int64: [-(2n ** 63n), 2n ** 63n - 1n] } as const

type Format = keyof typeof bounds

/** Keywords whose schemas may fail without the value being invalid (JSON Schema 2020-12, core, section 10.2). */
const alternatives = ['anyOf', 'oneOf', 'not', 'if', 'contains']

/**
 * Makes an Ajv exact for integers that a double does not hold. The formats int32 and int64 judge the digits that
 * `parseJson` kept, and add to `found` what a handler gets in their place; what an alternative found that failed is
 * taken back. Ajv's other keywords stay right, since rounding never moves a number across a limit that is a double.
 */
export function addExactKeywords(ajv: Ajv, found: Conversion[]): void {
  replace(ajv, 'format', (format) => ({
    ...format,
    error: { message: (context) => messageOf(context as KeywordCxt, format) },
    code(context, type) {
      if (!isFormat(context.schema)) format.code(context, type)
      else if (type === 'number') check(context, integerCheck(context.schema, found))
    },
  }))
  replace(ajv, 'multipleOf', (multipleOf) => ({
    ...multipleOf,
    code: (context) => check(context, multipleCheck(context.schema)),
  }))
  for (const keyword of alternatives) {
    replace(ajv, keyword, (definition) => ({
      ...definition,
      code(context, type) {
        takeBack(context, found)
        definition.code(context, type)
      },
      // Items that it has found count as evaluated.
      ...(keyword === 'contains' && { before: 'unevaluatedItems' }),
    }))
  }
}

/** Returns the message of an error, with the width of an integer where the schema says one. Needs Ajv's verbose errors. */
export function messageWithFormat({ keyword, message = '', parentSchema }: ErrorObject): string {
  const format = parentSchema?.format
  return keyword === 'type' && isFormat(format) ? `must be an ${format} integer` : message
}

const isFormat = (format: unknown): format is Format => typeof format === 'string' && Object.hasOwn(bounds, format)

function replace(ajv: Ajv, keyword: string, change: (now: CodeKeywordDefinition) => CodeKeywordDefinition): void {
  const definition = change(ajv.getKeyword(keyword) as CodeKeywordDefinition)
  ajv.removeKeyword(keyword).addKeyword(definition)
}

function messageOf(context: KeywordCxt, { error }: CodeKeywordDefinition) {
  if (isFormat(context.schema)) return str`must be an ${context.schema} integer`
  const message = error?.message as (context: KeywordCxt) => ReturnType<typeof str>
  return message(context)
}

type Check = (value: number, holder: object, key: string | number) => boolean

function check(context: KeywordCxt, isValid: Check): void {
  const { gen, data, it } = context
  const call = gen.scopeValue('func', { ref: isValid })
  context.pass(_`${call}(${data}, ${it.parentData}, ${it.parentDataProperty})`)
}

/** Wraps what compiles a schema below the keyword: when that schema fails, what it has found is forgotten. */
function takeBack(context: KeywordCxt, found: Conversion[]): void {
  const { gen } = context
  const list = gen.scopeValue('obj', { ref: found })
  const subschema = context.subschema.bind(context)
  context.subschema = (application, valid) => {
    const before = gen.const('before', _`${list}.length`)
    const compiled = subschema(application, valid)
    gen.if(_`!${valid}`, () => gen.assign(_`${list}.length`, before))
    return compiled
  }
}

const integerCheck =
  (format: Format, found: Conversion[]): Check =>
  (value, holder, key) => {
    const digits = inexactNumber(holder, key)
    const integer = digits === undefined ? wholeOf(value) : exactInteger(digits)
    const [least, greatest] = bounds[format]
    if (integer === undefined || integer < least || integer > greatest) return false
    found.push([holder as Conversion[0], key, format === 'int64' ? integer : Number(integer)])
    return true
  }

const wholeOf = (value: number) => (Number.isInteger(value) ? BigInt(value) : undefined)

const multipleCheck =
  (divisor: number): Check =>
  (value, holder, key) => {
    const digits = inexactNumber(holder, key)
    const integer = digits === undefined || !Number.isInteger(divisor) ? undefined : exactInteger(digits)
    return integer === undefined ? Number.isInteger(value / divisor) : integer % BigInt(divisor) === 0n
  }
