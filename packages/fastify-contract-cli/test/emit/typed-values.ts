import { random } from 'fastify-contract-test-support/fixed-seed'

/** A JSON value in the form that handlers use, with each int64 as a bigint. */
export type Value = null | boolean | number | string | bigint | Value[] | { [name: string]: Value }

export type SchemaObject = { [keyword: string]: unknown }
type Schema = boolean | SchemaObject

const shared = '#/components/schemas/'
const names = ['a', 'b', 'c', 'd']

/** Makes schemas from the keywords that a type can express, and values that are valid under them or nearly so. */
export class SchemaMaker {
  readonly #next: () => number
  /** The shared schemas by name. */
  readonly shared: Record<string, SchemaObject> = {}

  constructor(seed: number) {
    this.#next = random(seed)
    for (const name of ['S0', 'S1', 'S2', 'S3']) this.shared[name] = this.#object(1, false)
    this.shared.Alias = { $ref: `${shared}S1` }
    for (const name of ['Cat', 'Dog']) {
      const properties = { kind: { type: 'string' }, a: this.#scalar() }
      this.shared[name] = { type: 'object', required: ['kind'], properties }
    }
    this.shared.Tree = {
      type: 'object',
      required: ['value'],
      properties: {
        value: { type: 'integer', format: 'int64' },
        below: { type: 'array', items: { $ref: `${shared}Tree` } },
      },
    }
  }

  #reference = (): SchemaObject => ({ $ref: `${shared}${this.#pick(Object.keys(this.shared))}` })

  #below = (count: number): number => Math.floor(this.#next() * count)
  #pick = <Item>(items: readonly Item[]): Item => items[this.#below(items.length)] as Item
  #may = (chance = 0.5): boolean => this.#next() < chance

  /** Returns a schema at most `depth` levels deep. */
  schema(depth: number): Schema {
    if (depth === 0) return this.#scalar()
    const kinds = [
      () => this.#scalar(),
      () => this.#array(depth),
      () => this.#tuple(depth),
      () => this.#object(depth, true),
      () => this.#object(depth, true),
      () => this.#allOf(depth),
      () => this.#anyOf(depth),
      () => this.#oneOf(depth),
      () => this.#reference(),
    ]
    return this.#pick(kinds)()
  }

  #scalar(): Schema {
    return this.#pick<() => Schema>([
      () => ({ type: 'string' }),
      () => ({ type: 'integer' }),
      () => ({ type: 'number' }),
      () => ({ type: 'boolean' }),
      () => ({ type: 'null' }),
      () => ({ type: 'integer', format: 'int64' }),
      () => ({ type: ['integer', 'null'], format: 'int64' }),
      () => ({ type: ['string', 'null'] }),
      () => ({ type: ['string', 'integer'] }),
      () => ({ type: ['boolean', 'array'], items: { type: 'string' } }),
      () => ({ enum: ['x', 2, null, false] }),
      () => ({ type: 'string', enum: ['x', 'y'] }),
      () => ({ type: 'string', enum: ['x', 2, null] }),
      () => ({ type: ['string', 'null'], enum: ['x', 'y'] }),
      () => ({ type: ['string', 'null'], enum: ['x', null] }),
      () => ({ enum: [{ a: 1 }, [2, 'x'], -3] }),
      () => ({ type: 'object', enum: [{ a: 1 }, 5] }),
      () => ({ const: 'x' }),
      () => ({ const: null }),
      () => ({ const: [1, { a: 'x' }] }),
      () => ({ type: 'string', const: 7 }),
      () => ({ type: 'string', oneOf: [{ const: 'x' }, { const: 'y' }] }),
      () => ({ type: ['string', 'null'], anyOf: [{ enum: ['x'] }, { const: null }] }),
      () => ({}),
      () => ({ description: 'Anything.' }),
      () => ({ not: {} }),
      () => true,
      () => false,
    ])()
  }

  #array(depth: number): SchemaObject {
    const items = this.#may(0.9) ? { items: this.schema(depth - 1) } : {}
    return { type: this.#may(0.2) ? ['array', 'null'] : 'array', ...items }
  }

  #tuple(depth: number): SchemaObject {
    const prefixItems = Array.from({ length: 1 + this.#below(3) }, () => this.schema(depth - 1))
    const minItems = this.#below(prefixItems.length + 2)
    return {
      type: 'array',
      prefixItems,
      ...this.#pick<object>([{}, { items: false }, { items: true }, { items: this.schema(depth - 1) }]),
      ...(this.#may() && { minItems }),
      ...(this.#may(0.4) && { maxItems: minItems + this.#below(3) }),
    }
  }

  /** Returns the schema of an object. One that stands beside others describes the same members as these. */
  #object(depth: number, isAlone: boolean): SchemaObject {
    const described = names.filter(() => !isAlone || this.#may(0.6))
    const properties = Object.fromEntries(
      described.map((name) => [name, this.#directed(this.schema(depth - 1), isAlone)]),
    )
    const required = names.filter((name) => this.#may(described.includes(name) ? 0.4 : 0.1))
    return {
      type: this.#may(0.15) && isAlone ? ['object', 'null'] : 'object',
      ...((!isAlone || this.#may(0.9)) && { properties }),
      ...(required.length > 0 && { required }),
      ...(isAlone &&
        this.#pick<object>([
          {},
          { additionalProperties: false },
          { additionalProperties: true },
          { additionalProperties: this.#other() },
          { patternProperties: { '^z': this.#other() } },
          { unevaluatedProperties: false },
        ])),
    }
  }

  #other = (): Schema => this.#pick<Schema>([{ type: 'string' }, { type: 'array', items: { type: 'boolean' } }])

  #directed(schema: Schema, isAlone: boolean): Schema {
    if (typeof schema === 'boolean' || !isAlone || this.#may(0.9)) return schema
    return { ...schema, [this.#pick(['readOnly', 'writeOnly'])]: true }
  }

  /** Returns a schema that is a reference, or an object that refers to nothing. */
  #part(depth: number): SchemaObject {
    return this.#may()
      ? this.#pick([{ $ref: `${shared}S0` }, { $ref: `${shared}Alias` }])
      : this.#object(depth - 1 || 1, false)
  }

  #required = (): SchemaObject => ({ required: [this.#pick(names)] })

  #allOf(depth: number): SchemaObject {
    const first = this.#part(depth)
    return this.#pick<() => SchemaObject>([
      () => ({ allOf: [first, this.#required(), this.#required()] }),
      () => ({ allOf: [first], ...this.#required() }),
      () => ({ type: 'object', allOf: [first, this.#part(depth)], ...this.#required() }),
      () => ({ allOf: [{ allOf: [first, this.#required()] }, { properties: { b: this.schema(depth - 1) } }] }),
      () => ({ ...this.#reference(), ...this.#required() }),
      () => ({ allOf: [this.schema(0), this.schema(0)] }),
      () => ({ ...this.#object(depth, false), allOf: [this.#part(depth)] }),
      () => ({ allOf: [first, { properties: { a: { required: ['b'], type: 'object' } } }] }),
      () => ({ allOf: [{ type: 'array', items: this.schema(depth - 1) }] }),
      () => ({ type: 'object', allOf: [{ type: ['object', 'null'], properties: { a: this.schema(0) } }] }),
      () => ({ allOf: [{ type: 'object', properties: { a: this.schema(0) } }, { required: ['d'] }] }),
    ])()
  }

  #anyOf(depth: number): SchemaObject {
    return this.#pick<() => SchemaObject>([
      () => ({ anyOf: [this.#part(depth), this.#part(depth)] }),
      () => ({ anyOf: [this.schema(0), this.schema(0), { type: 'array', items: this.schema(0) }] }),
      () => ({ ...this.#object(depth, false), anyOf: [this.#required(), this.#required()] }),
      () => ({ ...this.#reference(), anyOf: [this.#required(), { properties: { a: this.schema(0) } }] }),
      () => ({ type: ['string', 'null'], anyOf: [this.schema(0), this.schema(0)] }),
      () => ({ anyOf: [this.#closed('a', 'b'), this.#closed('b', 'c'), { type: 'array', items: this.schema(0) }] }),
      () => ({ type: 'array', items: { anyOf: [{ type: 'array', items: this.schema(0) }] } }),
    ])()
  }

  #closed = (...members: string[]): SchemaObject => ({
    type: 'object',
    properties: Object.fromEntries(members.map((name) => [name, this.schema(0)])),
    ...this.#pick<object>([{ additionalProperties: false }, { unevaluatedProperties: false }]),
  })

  /** Returns a schema whose alternatives differ in one property, since a type cannot express that only one applies. */
  #oneOf(depth: number): SchemaObject {
    if (this.#may(0.3)) {
      const discriminator = { propertyName: 'kind', mapping: { x: `${shared}Cat` } }
      return { oneOf: [{ $ref: `${shared}Cat` }, { $ref: `${shared}Dog` }], discriminator }
    }
    const kinds = ['x', 'y']
    const oneOf = kinds.map((kind) => {
      const { properties, required, ...rest } = this.#object(depth, false)
      return {
        ...rest,
        properties: { ...(properties as object), kind: { const: kind } },
        required: [...((required ?? []) as string[]), 'kind'],
      }
    })
    return this.#may() ? { oneOf } : { type: 'object', properties: { e: this.schema(0) }, oneOf }
  }

  /** Returns a value that is mostly valid under a schema. */
  value(schema: Schema, depth = 6): Value {
    if (typeof schema === 'boolean' || depth === 0) return this.#any()
    const { $ref, allOf, anyOf, oneOf, enum: values, const: only } = schema as Record<string, never>
    if (only !== undefined) return only
    if (values !== undefined) return this.#pick(values)
    const parts: Schema[] = [
      ...($ref === undefined ? [] : [this.shared[($ref as string).slice(shared.length)] as SchemaObject]),
      ...((allOf ?? []) as Schema[]),
      ...(anyOf === undefined ? [] : this.#may(0.2) ? (anyOf as Schema[]) : [this.#pick(anyOf as Schema[])]),
      ...(oneOf === undefined ? [] : [this.#pick(oneOf as Schema[])]),
    ]
    const all = [
      ...(Object.hasOwn(schema, 'type') || parts.length === 0 ? [this.#own(schema, depth)] : []),
      ...parts.map((part) => this.value(part, depth - 1)),
    ]
    const objects = all.filter((one): one is { [name: string]: Value } => kindOf(one) === 'object')
    const last = all.at(-1) as Value
    const required = ((schema as SchemaObject).required ?? []) as string[]
    const whole = objects.length > 0 ? Object.assign({}, ...objects) : last
    if ((schema as SchemaObject).discriminator !== undefined) whole.kind = this.#pick(['x', 'Cat', 'Dog', 'other'])
    if (kindOf(whole) === 'object') for (const name of required) whole[name] ??= 'x'
    return whole
  }

  #any = (): Value => this.#pick<Value>(['x', 'free', 7, true, null, [1], { a: 'x' }])

  #own(schema: SchemaObject, depth: number): Value {
    const type = this.#pick([schema.type ?? (schema.properties || schema.required ? 'object' : undefined)].flat())
    if (type === 'string') return this.#pick(['x', 'y', 'free'])
    if (type === 'integer') return schema.format === 'int64' ? this.#pick([7n, -2n]) : this.#pick([2, 7])
    if (type === 'number') return this.#pick([2, 1.5])
    if (type === 'boolean') return this.#may()
    if (type === 'null') return null
    if (type === 'array') return this.#items(schema, depth)
    return type === 'object' ? this.#members(schema, depth) : this.#any()
  }

  #items({ prefixItems = [], items = true, minItems = 0 }: SchemaObject, depth: number): Value {
    const prefix = prefixItems as Schema[]
    const length = Math.max(minItems as number, this.#below(prefix.length + (items === false ? 1 : 3)))
    return Array.from({ length }, (_, index) => this.value(prefix[index] ?? (items as Schema), depth - 1))
  }

  #members(schema: SchemaObject, depth: number): Value {
    const { properties = {}, required = [] } = schema as { properties?: Record<string, Schema>; required?: string[] }
    const { additionalProperties: others, patternProperties } = schema as Record<string, Schema>
    const of = (name: string) => properties[name] ?? (others === undefined || others === false ? true : others)
    const given = new Set([...required, ...Object.keys(properties).filter(() => this.#may(0.6))])
    const members = [...given].map((name): [string, Value] => [name, this.value(of(name), depth - 1)])
    const pattern = patternProperties as Record<string, Schema> | undefined
    const other = pattern === undefined ? others : pattern['^z']
    if (other !== undefined && other !== false && this.#may()) members.push(['z', this.value(other, depth - 1)])
    return Object.fromEntries(members)
  }

  /** Returns a value with one difference: another scalar, a missing or another member, or another number of items. */
  nearMiss(value: Value): Value {
    if (Array.isArray(value)) {
      if (value.length === 0 || this.#may(0.3)) return this.#pick<Value>([null, 'x', {}, [...value, this.#any()]])
      if (this.#may(0.3)) return value.slice(0, -1)
      const index = this.#below(value.length)
      return value.map((item, at) => (at === index ? this.nearMiss(item) : item))
    }
    if (typeof value !== 'object' || value === null)
      return this.#pick<Value>(['other', true, null, [], {}].filter((one) => one !== value) as Value[])
    const members = Object.keys(value).filter((name) => name !== 'z')
    if (members.length === 0 || this.#may(0.2)) return this.#pick<Value>([null, 'x', true, [1]])
    const name = this.#pick(members)
    if (this.#may(0.4)) return Object.fromEntries(Object.entries(value).filter(([one]) => one !== name))
    return { ...value, [name]: this.nearMiss(value[name] as Value) }
  }
}

const kindOf = (value: Value): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)
