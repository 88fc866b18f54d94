import { isDiscriminator } from '../document/discriminators.ts'
import { join, keysOf, withChanges } from '../document/json-pointer.ts'
import { partsOf } from '../document/schemas.ts'
import { schemaPrefix, unusedName } from '../document/shared-schemas.ts'
import {
  hasShape,
  isNode,
  mapEntries,
  memberOf,
  type Node,
  walkSchemas,
  withoutKeys,
} from '../document/walk-document.ts'
import { dynamicMembers, dynamicProblem } from '../read/schema-resources.ts'

/** The greatest number of copies that the dynamic references of a document may need. */
export const maxCopies = 1000

/**
 * The schemas that dynamic references refer to while a schema is evaluated: for each name, the schema with that dynamic
 * anchor in the outermost resource that the evaluation has entered (JSON Schema 2020-12, core, section 8.2.3.2).
 */
type Scope = ReadonlyMap<string, Node>

const outermost: Scope = new Map()

/** What cannot be written without dynamic references. */
class Unresolvable extends Error {}

/**
 * Returns a bundled document in which each $ref is the only one of its schema that a value meets: a schema that a
 * dynamic reference gives several meanings has a copy for each. `mark` precedes the names of the members that
 * read/schema-resources.ts has written. If that is not possible, each dynamic reference stays, with the reason.
 */
export function withoutDynamicReferences<Document extends object>(document: Document, mark: string): Document {
  try {
    return new DynamicScopes(document, mark).resolved()
  } catch (error) {
    if (!(error instanceof Unresolvable)) throw error
    return new DynamicScopes(document, mark).unresolved(error.message)
  }
}

class DynamicScopes<Document extends object> {
  readonly #document: Document
  readonly #names: ReturnType<typeof dynamicMembers>
  readonly #pointers = new Map<Node, string>()
  readonly #schemas = new Map<string, Node>()
  /** The schemas that hold others. */
  readonly #holders = new Map<Node, Node>()
  /** The schemas with a dynamic anchor, by their resources and names. */
  readonly #anchors = new Map<unknown, Map<string, Node>>()
  /** The scope inside of a schema that is reached through the schemas that hold it. */
  readonly #homes = new Map<Node, Scope>()
  /** The names to which a schema, or one that it leads to, refers dynamically. */
  readonly #used = new Map<Node, Set<string>>()
  /** The names of copies, by what they are copies of. */
  readonly #copies = new Map<string, string>()
  readonly #waiting: { name: string; target: Node; scope: Scope }[] = []
  readonly #taken: Set<string>

  constructor(document: Document, mark: string) {
    this.#document = document
    this.#names = dynamicMembers(mark)
    const { schemas } = Object(Object(document).components) as { schemas?: object }
    this.#taken = new Set(Object.keys(Object(schemas)))
    walkSchemas(document, (schema, at) => this.#addSchema(schema, at()))
    for (const [schema, pointer] of this.#pointers) {
      const holder = this.#holderOf(pointer)
      if (holder !== undefined) this.#holders.set(schema, holder)
      this.#homes.set(schema, this.#entered(schema, (holder && this.#homes.get(holder)) ?? outermost))
    }
    this.#findUses()
  }

  #anchorsOf = (schema: Node): string[] => (schema[this.#names.anchors] ?? []) as string[]

  #holderOf(pointer: string): Node | undefined {
    const above = pointer.slice(0, pointer.lastIndexOf('/'))
    return this.#schemas.get(above) ?? this.#schemas.get(above.slice(0, above.lastIndexOf('/')))
  }

  #entered(schema: Node, scope: Scope): Scope {
    const own = this.#anchors.get(schema[this.#names.resource])
    if (own === undefined) return scope
    const added = [...own].filter(([name]) => !scope.has(name))
    return added.length === 0 ? scope : new Map([...scope, ...added])
  }

  #targetOf = ({ $ref }: Node): Node | undefined =>
    typeof $ref === 'string' ? this.#schemas.get(join('#', ...keysOf($ref))) : undefined

  #findUses(): void {
    const leading = new Map<Node, Node[]>()
    const referring = new Map<string, Node[]>()
    const lead = (from: Node, to: Node | undefined) => {
      const known = to && leading.get(to)
      if (known !== undefined) known.push(from)
      else if (to !== undefined) leading.set(to, [from])
    }
    const candidates = [...this.#anchors.values()]
    for (const schema of this.#pointers.keys()) {
      const holder = this.#holders.get(schema)
      if (holder !== undefined) lead(holder, schema)
      lead(schema, this.#targetOf(schema))
      const name = schema[this.#names.dynamic]
      if (typeof name !== 'string') continue
      referring.set(name, [...(referring.get(name) ?? []), schema])
      for (const own of candidates) lead(schema, own.get(name))
    }
    for (const [name, schemas] of referring) {
      const reaching = new Set(schemas)
      // Iteration over a Set includes the elements that are added meanwhile.
      for (const schema of reaching) {
        this.#used.set(schema, (this.#used.get(schema) ?? new Set()).add(name))
        for (const each of leading.get(schema) ?? []) reaching.add(each)
      }
    }
  }

  resolved(): Document {
    const result = withChanges(this.#document, this.#changes()) as Document
    const copies: [string, Node][] = []
    // Iteration over an array includes the elements that are added meanwhile.
    for (const { name, target, scope } of this.#waiting) {
      this.#rejectInheritance(target)
      copies.push([name, this.#rewritten(withoutKeys(target, definitions), scope)])
    }
    if (copies.length === 0) return result
    const { components } = result as { components?: Node }
    const schemas = { ...(components?.schemas as object), ...Object.fromEntries(copies) }
    return { ...result, components: { ...components, schemas } }
  }

  /** Returns what changes in the outermost schemas that hold a marked schema, or lead to a dynamic reference. */
  #changes(): Map<string, () => Node> {
    const changes = new Map<string, () => Node>()
    for (const schema of this.#pointers.keys()) {
      if (!this.#used.has(schema) && !Object.hasOwn(schema, this.#names.resource)) continue
      let outer = schema
      for (let above = this.#holders.get(outer); above !== undefined; above = this.#holders.get(above)) outer = above
      changes.set(this.#pointers.get(outer) as string, () => this.#rewritten(outer, outermost))
    }
    return changes
  }

  unresolved(problem: string): Document {
    const result = structuredClone(this.#document)
    walkSchemas(result, (schema) => {
      const { [this.#names.dynamic]: name } = schema
      if (typeof name === 'string') Object.assign(schema, { $dynamicRef: `#${name}`, [dynamicProblem]: problem })
      for (const member of Object.values(this.#names)) delete schema[member]
    })
    return result
  }

  /** Records where a schema is, and which anchors it has. */
  #addSchema(schema: Node, pointer: string): void {
    this.#pointers.set(schema, pointer)
    this.#schemas.set(pointer, schema)
    for (const name of this.#anchorsOf(schema)) {
      const { [this.#names.resource]: resource } = schema
      const own = this.#anchors.get(resource) ?? new Map<string, Node>()
      // The bundler writes a schema of another file in each place where it is needed.
      if (!own.has(name)) own.set(name, schema)
      this.#anchors.set(resource, own)
    }
  }

  /** Returns a schema as it is evaluated in a scope. */
  #rewritten(schema: Node, outer: Scope): Node {
    const scope = this.#entered(schema, outer)
    const below = (held: unknown) => (isNode(held) ? this.#rewritten(held, scope) : held)
    const evaluated = (value: unknown, name: string) => {
      const member = memberOf('schema', name)
      if (member === undefined || !hasShape(value, member)) return value
      if (member.shape === 'one') return below(value)
      return Array.isArray(value) ? value.map(below) : mapEntries(value as Node, below)
    }
    const mapped = mapEntries(withoutKeys(schema, Object.values(this.#names)), evaluated)
    const $ref = this.#referenceOf(schema, scope)
    return this.#withValues(schema, $ref === undefined ? mapped : { ...mapped, $ref })
  }

  /** Returns the reference by which a schema refers in a scope to its target; undefined if it has none. */
  #referenceOf(schema: Node, scope: Scope): string | undefined {
    const { [this.#names.dynamic]: name } = schema
    const found = typeof name === 'string' ? this.#aliasedBy(scope.get(name)) : undefined
    const target = found ?? this.#targetOf(schema)
    if (target === undefined) return undefined
    const pointer = this.#pointers.get(target) as string
    const used = this.#used.get(target) ?? new Set<string>()
    const keyIn = (one: Scope) =>
      [...one].flatMap(([key, anchor]) => (used.has(key) ? [`${key} ${this.#pointers.get(anchor)}`] : [])).sort()
    const inside = keyIn(this.#entered(target, scope))
    if (inside.join('\n') === keyIn(this.#homes.get(target) as Scope).join('\n'))
      return found === undefined ? (schema.$ref as string) : pointer
    return schemaPrefix + this.#copyName(pointer, inside, { target, scope })
  }

  /** Returns the schema to which another one only refers. */
  #aliasedBy(schema: Node | undefined): Node | undefined {
    const isAlias = Object.keys(withoutKeys(schema ?? {}, Object.values(this.#names))).join() === '$ref'
    return (schema !== undefined && isAlias && this.#targetOf(schema)) || schema
  }

  #copyName(pointer: string, scopeKey: string[], wanted: { target: Node; scope: Scope }): string {
    const key = [pointer, ...scopeKey].join('\n')
    const known = this.#copies.get(key)
    if (known !== undefined) return known
    if (this.#copies.size >= maxCopies)
      throw new Unresolvable(`the dynamic references need more than ${maxCopies} copies of schemas; use fewer`)
    const [anchor] = wanted.scope.values()
    const binding = anchor === undefined ? [] : this.#bindingOf(anchor)
    const name = unusedName(this.#taken, [...keysOf(pointer), ...binding])
    this.#copies.set(key, name)
    this.#waiting.push({ name, ...wanted })
    return name
  }

  /** Returns the name of the shared schema that an anchor is, refers to or stands in. */
  #bindingOf(anchor: Node): string[] {
    const own = keysOf(this.#pointers.get(anchor) as string)
    const target = typeof anchor.$ref === 'string' && own.length > 3 ? keysOf(anchor.$ref) : own
    const [, kind, name] = target
    return kind === 'schemas' && name !== undefined ? [name] : []
  }

  /** Returns a schema in which each alternative that is now a copy keeps its discriminator values. */
  #withValues(schema: Node, mapped: Node): Node {
    const { discriminator } = schema
    if (!isDiscriminator(discriminator)) return mapped
    const { mapping = {} } = discriminator
    const changed = new Map<string, string>()
    for (const keyword of ['oneOf', 'anyOf']) {
      const given = schema[keyword]
      if (!Array.isArray(given)) continue
      for (const [index, alternative] of given.entries()) {
        const { $ref } = Object(alternative) as Node
        const now = Object((mapped[keyword] as unknown[])[index]) as Node
        if (typeof $ref === 'string' && now.$ref !== $ref) changed.set($ref, String(now.$ref))
      }
    }
    if (changed.size === 0) return mapped
    const entries = new Map<string, string>()
    for (const [value, to] of Object.entries(mapping))
      entries.set(value, changed.get(to.startsWith('#/') ? to : join('#', 'components', 'schemas', to)) ?? to)
    const listed = new Set(entries.values())
    for (const [before, now] of changed) {
      const [, , name] = keysOf(before)
      if (name !== undefined && !listed.has(now)) entries.set(name, now)
    }
    return { ...mapped, discriminator: { ...discriminator, mapping: Object.fromEntries(entries) } }
  }

  /** Rejects a copy of a schema with a discriminator that names the schemas which inherit from it. */
  #rejectInheritance(target: Node): void {
    const isInherited = ({ schema }: { schema: Node }) =>
      isDiscriminator(schema.discriminator) && !('oneOf' in schema || 'anyOf' in schema)
    if (partsOf(this.#document, target).some(isInherited)) {
      throw new Unresolvable(
        'a schema that needs a copy inherits a discriminator, whose values are names of schemas; list the alternatives in oneOf',
      )
    }
  }
}

/** Keywords that a copy does not need: references lead to the definitions of the original. */
const definitions = ['$defs', 'definitions']
