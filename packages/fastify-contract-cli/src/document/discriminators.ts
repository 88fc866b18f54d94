import { inPlaceKeywords, isAnnotation, type Schema } from 'fastify-contract/contract'
import { keysOf } from './json-pointer.ts'
import type { Document } from './openapi-document.ts'
import { int64Holders, listedValues, partsOf, reachability } from './schemas.ts'
import { schemaPrefix } from './shared-schemas.ts'
import { type At, mapDocument, mapEntries, type Node, walkSchemas } from './walk-document.ts'

type Discriminator = { propertyName: string; mapping?: Record<string, string>; defaultMapping?: unknown }

/**
 * Returns a document whose discriminators are expressed as schemas (OpenAPI 3.1 section 4.8.25). Next to oneOf or
 * anyOf, each alternative is narrowed inside that union only. A schema that inherits a discriminator through allOf is
 * narrowed everywhere, and its int64 values are exact also where only its parent is named.
 */
export function withDiscriminators(given: Document): Document {
  const document = withUnlistedParents(given)
  const { schemas = {} } = (document.components ?? {}) as { schemas?: Record<string, Node> }
  const families: Families = new Map()
  const members = new Map<string, Member[]>()
  let inheriting: Member[] = []
  const children = new Map<string, string[]>()
  for (const child of Object.keys(schemas)) {
    for (const reference of new Set(referencesOf(schemas[child]?.allOf))) {
      const known = children.get(reference)
      if (known === undefined) children.set(reference, [child])
      else known.push(child)
    }
  }
  /** Returns the discriminator values of a schema and of the schemas that inherit from it, and narrows the latter. */
  function inherit(schema: string, discriminator: Discriminator, above: string[]): unknown[] {
    if (above.includes(schema)) return []
    const below: unknown[] = []
    for (const child of children.get(schemaPrefix + schema) ?? []) {
      const isOther = isAlias(schemas[child] as Node) && mappedNames(child, discriminator, schemas).length === 0
      if (isOther && discriminator.mapping) continue
      below.push(...inherit(child, discriminator, [...above, schema]))
    }
    const given = namesOf(schema, discriminator, schemas)
    const isOpen = schema === defaultName(discriminator, schemas)
    const own = isOpen ? given : decided(document, schemas[schema], discriminator, given)
    const names = [...new Set([...own, ...below])]
    const [parent] = above
    if (parent === undefined) return names
    const member: Member = { child: schema, property: discriminator.propertyName, names }
    families.set(parent, [...(families.get(parent) ?? []), member])
    members.set(schema, [...(members.get(schema) ?? []), member])
    inheriting.push(member)
    return names
  }

  function inheritFrom({ discriminator }: Node, at: At): void {
    const pointer = isDiscriminator(discriminator) ? at() : ''
    if (!isDiscriminator(discriminator) || !pointer.startsWith(schemaPrefix)) return
    inheriting = []
    const all = new Set(inherit(pointer.slice(schemaPrefix.length), discriminator, []))
    const open = inheriting.find(({ child }) => child === defaultName(discriminator, schemas))
    if (open === undefined) return
    for (const member of inheriting) {
      const names = new Set(member.names)
      // What a child allows, the schemas between it and the parent allow, too.
      if (containsAll(names, open.names)) member.others = without(all, names)
    }
  }

  walkSchemas(document, inheritFrom)
  const narrowed = Array.from(members, ([name, all]) => [name, allowing(schemas[name], all)])
  const inherited = { ...schemas, ...Object.fromEntries(narrowed) }
  return mapDocument(members.size === 0 ? document : withExactFamilies(document, inherited, families), {
    schema: (schema) => toldApart(document, schema, schemas),
  })
}

const containsAll = (set: Set<unknown>, values: unknown[]): boolean => values.every((value) => set.has(value))

const without = (all: Iterable<unknown>, others: Set<unknown>): unknown[] => [...all].filter((one) => !others.has(one))

/**
 * Returns a document in which the children of a parent that lists them in oneOf or anyOf inherit from a copy of it
 * without these lists. Otherwise the parent would lead to the children and back without end. A schema without properties
 * and a discriminator of its own is no parent.
 */
export function withUnlistedParents(document: Document): Document {
  const { schemas = {} } = (document.components ?? {}) as { schemas?: Record<string, Node> }
  const parents = new Map<Node, string>()
  for (const [name, schema] of Object.entries(schemas)) {
    const { oneOf, anyOf, properties, discriminator } = Object(schema) as Node
    const listed = (properties ?? discriminator) ? [oneOf, anyOf].flat() : []
    for (const { schema: part, holder, isOwn } of listed.flatMap((one) => partsOf(document, one as Schema)))
      if (part === schema && holder !== undefined && !isOwn) parents.set(holder.schema, name)
  }
  if (parents.size === 0) return document
  const copies: [string, Node][] = []
  for (const name of new Set(parents.values())) {
    const { oneOf: _, anyOf: __, ...rest } = schemas[name] as Node
    copies.push([inheritedName(schemas, name), rest])
  }
  const components = { ...document.components, schemas: { ...schemas, ...Object.fromEntries(copies) } }
  return mapDocument({ ...document, components }, { schema: withCopy })

  function withCopy(node: Node): Node {
    const parent = parents.get(node)
    return parent === undefined ? node : { ...node, $ref: schemaPrefix + inheritedName(schemas, parent) }
  }
}

/**
 * The discriminator values of a schema, which the property has. With `others`, it may have any value except those, or be
 * missing.
 */
type Values = { property: string; names: unknown[]; others?: unknown[] }

/** A schema that inherits a discriminator. */
type Member = Values & { child: string }

/** The schemas that inherit from a schema with a discriminator, by its name. */
type Families = Map<string, Member[]>

/**
 * Returns a document with these shared schemas. A value of a schema with a discriminator is also validated by the child
 * that it names, if that has int64 values besides its parent's: they would be rounded otherwise.
 */
function withExactFamilies(document: Document, schemas: Record<string, Node>, families: Families): Document {
  const withFamilies = (families: Families) => ({
    ...document,
    components: { ...document.components, schemas: applied(schemas, families) },
  })
  // A member of a child may lead to another child, so only the whole document tells which of them hold an int64.
  const whole = withFamilies(families)
  const holdsInt64 = int64Holders(whole)
  const exact: Families = new Map()
  for (const [parent, family] of families) {
    const inherited = new Set([schemaPrefix + inheritedName(schemas, parent)])
    for (const { child } of family) inherited.add(schemaPrefix + child)
    // Such a child would be validated without end.
    const { [parent]: self, ...others } = whole.components.schemas
    const leadsBack = reachability(whole, [...inPlaceKeywords, 'not'], (schema) => schema === self)
    const kept = family.filter(({ child }) => holdsOwn(child, inherited) && !leadsBack(others[child]))
    if (kept.length > 0) exact.set(parent, kept)
  }
  return withFamilies(exact)

  /** Returns whether a child has int64 values besides those that it inherits. */
  function holdsOwn(child: string, inherited: Set<string>): boolean {
    const { allOf, ...own } = whole.components.schemas[child] as Node
    return [own, ...(allOf as Node[])].some((part) => !inherited.has(String(part.$ref)) && holdsInt64(part))
  }
}

/** Returns shared schemas in which each parent applies its children, which refer to a copy of it that does not. */
function applied(schemas: Record<string, Node>, families: Families): Record<string, Node> {
  const copies = new Map<string, string>()
  for (const parent of families.keys()) copies.set(schemaPrefix + parent, inheritedName(schemas, parent))
  const all = mapEntries(schemas, withCopies) as Record<string, Node>
  const parents: [string, Node][] = []
  const copied: [string, Node][] = []
  for (const [parent, family] of families) {
    const { allOf = [], ...own } = all[parent] as Node
    parents.push([parent, { ...own, allOf: [...(allOf as Node[]), ...family.map(conditionOf)] }])
    copied.push([inheritedName(schemas, parent), all[parent] as Node])
  }
  return { ...all, ...Object.fromEntries([...parents, ...copied]) }

  function withCopies(schema: unknown): unknown {
    const { allOf } = schema as Node
    return Array.isArray(allOf) && !isAlias(schema as Node)
      ? { ...(schema as Node), allOf: allOf.map(withCopy) }
      : schema
  }

  function withCopy(part: Node): Node {
    const copy = copies.get(String(Object(part).$ref))
    return copy === undefined ? part : { ...part, $ref: schemaPrefix + copy }
  }
}

/** Returns the schema by which a parent applies a child to the values that name it. */
const conditionOf = ({ child, property, names, others }: Member): Node => ({
  if: { required: [property], properties: { [property]: listing(others ?? names) } },
  [others === undefined ? 'then' : 'else']: { $ref: schemaPrefix + child },
})

/**
 * Returns whether a schema is another one under a second name, with its own description or as nullable. A mapping that
 * does not name it shows that it is no child of that schema.
 */
const isAlias = ({ allOf, ...rest }: Node): boolean =>
  Array.isArray(allOf) &&
  allOf.length === 1 &&
  Object.keys(rest).every((keyword) => keyword === 'nullable' || isAnnotation(keyword))

/** Returns the name of the copy of a parent that its children refer to. */
function inheritedName(schemas: object, parent: string): string {
  const name = `${parent}.inherited`
  return Object.hasOwn(schemas, name) ? inheritedName(schemas, name) : name
}

/**
 * Returns a schema in which each alternative that the discriminator can name allows only its own discriminator values:
 * its names, or else the values that it allows itself.
 * The alternative of `defaultMapping` (OpenAPI 3.2) allows all values except those of the others, and a missing value.
 */
function toldApart(document: Document, schema: Node, schemas: Record<string, Node>): Node {
  const { discriminator } = schema
  if (!isDiscriminator(discriminator)) return schema
  const { propertyName } = discriminator
  const namesOfOne = (one: Node): unknown[] => {
    const [reference = ''] = referencesOf([one])
    if (!reference.startsWith(schemaPrefix)) return []
    return decided(
      document,
      one,
      discriminator,
      namesWithin(reference.slice(schemaPrefix.length), discriminator, schemas),
    )
  }
  const told = (one: Node, _index: number, all: Node[]): Node => {
    const names = namesOfOne(one)
    const others =
      one.$ref === schemaPrefix + defaultName(discriminator, schemas)
        ? all.filter((other) => other !== one).flatMap(namesOfOne)
        : undefined
    // A single alternative needs no distinction.
    if ((others ?? names).length === 0) return one
    return allowing(one, [{ property: propertyName, names, ...(others && { others }) }])
  }
  const lists = ['oneOf', 'anyOf'].filter((keyword) => Array.isArray(schema[keyword]))
  return { ...schema, ...Object.fromEntries(lists.map((keyword) => [keyword, (schema[keyword] as Node[]).map(told)])) }
}

/** Returns the discriminator values of an alternative; if it is a union, also those that are mapped to its members. */
function namesWithin(schema: string, discriminator: Discriminator, schemas: Record<string, Node>): string[] {
  const within = new Set([schema])
  for (const each of within) {
    const { oneOf, anyOf } = Object(schemas[each]) as Node
    for (const reference of referencesOf([oneOf, anyOf].flat()))
      if (reference.startsWith(schemaPrefix)) within.add(reference.slice(schemaPrefix.length))
  }
  const mapped: string[] = []
  for (const each of within) mapped.push(...mappedNames(each, discriminator, schemas))
  return mapped.length > 0 ? mapped : [schema]
}

/** Returns whether `defaultMapping` refers to an alternative, or to a schema that inherits from the given one. */
export function isDefaultServed(document: Document, schema: Node, discriminator: Discriminator): boolean {
  const { schemas = {} } = (document.components ?? {}) as { schemas?: Record<string, Node> }
  const $ref = schemaPrefix + defaultName(discriminator, schemas)
  const union = schema.oneOf ?? schema.anyOf
  return Array.isArray(union)
    ? union.some((one) => Object(one).$ref === $ref)
    : partsOf(document, { $ref }).some((part) => part.schema === schema)
}

/** Returns the name of the schema of `defaultMapping`, which covers the values that no mapping names. */
const defaultName = ({ defaultMapping }: Discriminator, schemas: object): string | undefined =>
  defaultMapping === undefined ? undefined : mappedSchema(String(defaultMapping), schemas)

/** Returns whether a value of a document is a Discriminator Object. */
export const isDiscriminator = (value: unknown): value is Discriminator =>
  typeof (value as Partial<Discriminator> | undefined)?.propertyName === 'string'

/** Returns the targets of the references among some schemas. */
function referencesOf(schemas: unknown): string[] {
  const references: string[] = []
  for (const schema of Array.isArray(schemas) ? schemas : []) {
    const { $ref } = Object(schema) as Node
    if (typeof $ref === 'string') references.push($ref)
  }
  return references
}

/** The names of each discriminator by the schema that they are mapped to. */
const namesByTarget = new WeakMap<Discriminator, Map<string, string[]>>()

/** Returns the discriminator values that are mapped to a schema. */
function mappedNames(schema: string, discriminator: Discriminator, schemas: object): string[] {
  const known = namesByTarget.get(discriminator) ?? namesIn(discriminator, schemas)
  namesByTarget.set(discriminator, known)
  return known.get(schema) ?? []
}

function namesIn({ mapping = {} }: Discriminator, schemas: object): Map<string, string[]> {
  const names = new Map<string, string[]>()
  for (const [name, target] of Object.entries(mapping)) {
    const schema = mappedSchema(String(target), schemas)
    names.set(schema, [...(names.get(schema) ?? []), name])
  }
  return names
}

/** Returns the name of the schema that a mapping holds: as it is, as a reference, or as a file that is bundled now. */
function mappedSchema(target: string, schemas: object): string {
  if (target.startsWith(schemaPrefix)) return target.slice(schemaPrefix.length)
  if (Object.hasOwn(schemas, target)) return target
  const last = keysOf(`/${target}`).at(-1) ?? ''
  return target.includes('#') ? last : last.replace(/\.(?:json|ya?ml)$/, '')
}

/** Returns the discriminator values of a schema: those that are mapped to it, or else its own name. */
function namesOf(schema: string, discriminator: Discriminator, schemas: object): string[] {
  const names = mappedNames(schema, discriminator, schemas)
  return names.length > 0 ? names : [schema]
}

/**
 * Returns the discriminator values of a schema: its names, or else those that it allows itself, if none of the names is
 * among them. Many documents name the values in const or enum, without a mapping.
 */
export function decided(
  document: Document,
  schema: unknown,
  { propertyName }: Discriminator,
  names: string[],
): unknown[] {
  const own = valuesOf(document, schema as Schema, propertyName)
  return own === undefined || own.length === 0 || names.some((name) => own.includes(name)) ? names : own
}

/** Returns the values that a schema, or all alternatives of a union, allow for a property; undefined for any value. */
function valuesOf(document: Document, schema: Schema, property: string, within: Schema[] = []): unknown[] | undefined {
  const described: Schema[] = []
  let union: Schema[] | undefined
  for (const { schema: part } of partsOf(document, schema)) {
    if (Object.hasOwn(Object(part.properties), property)) described.push(Object(part.properties)[property])
    const alternatives = part.oneOf ?? part.anyOf
    if (Array.isArray(alternatives)) union ??= alternatives
  }
  const own = listedValues(document, described)
  if (own !== undefined) return own
  if (union === undefined || within.includes(schema)) return undefined
  const values: unknown[] = []
  for (const one of union) {
    const allowed = valuesOf(document, one, property, [...within, schema])
    if (allowed === undefined) return undefined
    for (const value of allowed) values.push(value)
  }
  return values
}

/** Returns a schema of some values; \`enum\` cannot be empty. */
const listing = (values: unknown[]): Schema => (values.length === 0 ? false : { enum: values })

/** Returns a schema in which properties have discriminator values. */
function allowing(schema: Node | boolean | undefined, all: Values[]): Node {
  const properties: Node = {}
  const required = new Set<string>()
  for (const { property, others } of all) {
    const names = new Set<unknown>()
    for (const one of all) if (one.property === property) for (const name of one.names) names.add(name)
    properties[property] = others === undefined ? listing([...names]) : { not: listing(others) }
    if (others === undefined) required.add(property)
  }
  return allOf(schema, { ...(required.size > 0 && { required: [...required] }), properties })
}

/** Returns a schema of objects that satisfy both schemas. */
const allOf = (schema: Node | boolean | undefined, narrowing: Node): Node => {
  const given = typeof schema === 'object' && schema.$ref === undefined ? schema : { allOf: [schema ?? true] }
  return { ...given, allOf: [...((given.allOf ?? []) as unknown[]), { type: 'object', ...narrowing }] }
}
