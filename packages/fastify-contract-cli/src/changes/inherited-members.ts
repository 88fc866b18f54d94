import { isDeepStrictEqual } from 'node:util'
import { join } from '../document/json-pointer.ts'
import { type Document, operationsIn, resolved } from '../document/openapi-document.ts'
import { type Node, walk } from '../document/walk-document.ts'
import { type PointerMap, pointerMap } from './pointer-map.ts'

/**
 * Returns a copy of a document in which each operation has what it inherits: the parameters of its path item, and the
 * security of the document (OpenAPI 3.1 sections 4.8.9 and 4.8.10). Servers that apply to all operations are those of the
 * document. So it does not matter at which level these are written. `origins` maps pointers of the copy to the original.
 */
export function withInherited(document: Document): { document: Document; origins: PointerMap } {
  // As JSON, which has no undefined members.
  const copy: Document = JSON.parse(JSON.stringify(document))
  const origins = pointerMap()
  const references: string[] = []
  const items: [item: Node, pointer: string][] = []
  walk(copy as Node, 'document', '#', function collect(node, kind, at) {
    if (typeof node.$ref === 'string') references.push(node.$ref)
    if (kind === 'pathItem') items.push([node, at()])
  })
  for (const [item, pointer] of items) {
    inheritParameters(copy, item, pointer, { references, origins })
    if (isServed(pointer)) inheritSecurity(copy, item, pointer, origins)
  }
  liftServers(
    copy,
    items.filter(([, pointer]) => isServed(pointer)),
  )
  delete copy.security
  return { document: copy, origins }
}

/** Returns whether a path item or operation may be one of `paths`: the document's security does not protect what the service sends. */
export const isServed = (pointer: string): boolean => !/^#\/webhooks\/|\/callbacks\//.test(pointer)

const operationsBelow = (item: Node, pointer: string): [operation: Node, pointer: string][] =>
  operationsIn(item).map(({ keys }) => [keys.reduce((node, key) => node[key] as Node, item), join(pointer, ...keys)])

type Known = { references: string[]; origins: PointerMap }

/** Moves the parameters of a path item into its operations, unless a $ref leads to one of them. */
function inheritParameters(document: Document, item: Node, pointer: string, { references, origins }: Known): void {
  const { parameters } = item
  const from = join(pointer, 'parameters')
  const operations = operationsBelow(item, pointer)
  if (!Array.isArray(parameters) || typeof item.$ref === 'string') return
  if (references.some((reference) => reference.startsWith(`${from}/`))) return
  const nameOf = (parameter: object) => {
    const { in: place, name } = resolved<{ in: string; name: string }>(document, parameter)
    return `${place} ${name}`
  }
  for (const [operation, at] of operations) {
    const own = Array.isArray(operation.parameters) ? operation.parameters : []
    const names = new Set(own.map(nameOf))
    const all = [...own]
    for (const [index, parameter] of parameters.entries()) {
      if (names.has(nameOf(parameter))) continue
      origins.set(join(at, 'parameters', String(all.length)), [join(from, String(index))])
      all.push(structuredClone(parameter))
    }
    if (own.length === 0) origins.set(join(at, 'parameters'), [from])
    if (all.length > 0) operation.parameters = all
  }
  delete item.parameters
}

function inheritSecurity({ security }: Document, item: Node, pointer: string, origins: PointerMap): void {
  for (const [operation, at] of security === undefined ? [] : operationsBelow(item, pointer)) {
    if (operation.security !== undefined) continue
    operation.security = structuredClone(security)
    origins.set(join(at, 'security'), ['#/security'])
  }
}

/** Moves the servers of the operations into the document if all operations have the same. */
function liftServers(document: Document, items: [item: Node, pointer: string][]): void {
  const holders: { item: Node; operation: Node }[] = []
  const all: unknown[] = []
  for (const [item, pointer] of items) {
    for (const [operation] of operationsBelow(item, pointer)) {
      holders.push({ item, operation })
      all.push(operation.servers ?? item.servers ?? document.servers)
    }
  }
  const [first] = all
  if (first === undefined || all.some((servers) => !isDeepStrictEqual(servers, first))) return
  for (const { item, operation } of holders) {
    delete item.servers
    delete operation.servers
  }
  document.servers = first as Document['servers'] & object
}
