import { stringifyJson } from 'fastify-contract/json'
import { join, resolve } from '../../document/json-pointer.ts'
import {
  type Document,
  isIgnored,
  type Parameter,
  parameterKey,
  pathQuery,
  routedPath,
} from '../../document/openapi-document.ts'
import { type At, isNode, type Kind, mapDocument, type Node, walkObjects } from '../../document/walk-document.ts'
import type { Advise, Advised } from '../../reports/reports.ts'

/** Returns an object after following any $ref; undefined if there is none. The structure may be invalid. */
export function targetOf(document: object, given: unknown, seen: unknown[] = []): Node | undefined {
  if (!isNode(given) || seen.includes(given)) return undefined
  if (given.$ref === undefined) return given
  if (typeof given.$ref !== 'string' || !given.$ref.startsWith('#/')) return undefined
  return targetOf(document, resolve(document, given.$ref), [...seen, given])
}

/** Returns a document in which every path parameter is required, as OpenAPI says (3.1 section 4.8.12.2). */
export function withRequiredPathParameters(document: Document, advise: Advise): Document {
  const isOptional = (node: Node) => node.in === 'path' && node.required !== true && node.$ref === undefined
  let isSame = true
  walkObjects(document, adviseOnOptional)
  if (isSame) return document
  return mapDocument(document, { parameter: (node) => (isOptional(node) ? { ...node, required: true } : node) })

  function adviseOnOptional(node: Node, kind: Kind, at: At): void {
    if (kind !== 'parameter' || !isOptional(node)) return
    isSame = false
    advise('optional-path-parameter', at(), 'a path parameter is always required; add required: true')
  }
}

type Holder = { keys: string[]; operation: Node }

/** Where a repair reports what it assumes, and the pointer of the path item. */
type Place = { pointer: string; advise: Advise }

/**
 * Returns a path item that describes each parameter of its path, and no other path parameter, and that describes no
 * parameter twice in one list. A path parameter without a description is a string.
 */
export function withDescribedParameters(
  document: Document,
  path: string,
  item: Node,
  operations: Holder[],
  { pointer, advise }: Place,
): Node {
  const names = templatesOf(routedPath(path))
  const query = pathQuery(path).flatMap(({ parameter = [] }) => parameter)
  const listAt = (holder: Node, keys: string[], above: Parameter[]) =>
    plainList(document, holder.parameters, { names, query, above }, { pointer: join(pointer, ...keys), advise })
  const shared = listAt(item, [], [])
  const own: unknown[] = []
  const missing: string[][] = []
  for (const { keys, operation } of operations) {
    const list = listAt(operation, keys, parametersIn(document, shared))
    own.push(list)
    missing.push(missingIn(shared, list))
  }
  const everywhere = names.filter((name) => missing.length > 0 && missing.every((all) => all.includes(name)))
  let described = withParameters(item, [], filled(shared, everywhere, pointer))
  for (const [index, { keys }] of operations.entries()) {
    const added = (missing[index] as string[]).filter((name) => !everywhere.includes(name))
    described = withParameters(described, keys, filled(own[index], added, join(pointer, ...keys)))
  }
  return described

  /** Returns the names of the path that no parameter of some lists describes. */
  function missingIn(...lists: unknown[]): string[] {
    const described = new Set<string>()
    for (const list of lists)
      for (const one of parametersIn(document, list)) if (one.in === 'path') described.add(one.name)
    return names.filter((name) => !described.has(name))
  }

  function filled(list: unknown, added: string[], at: string): unknown {
    if (added.length === 0 || (list !== undefined && !Array.isArray(list))) return list
    for (const name of added)
      advise(
        'undescribed-path-parameter',
        at,
        `path parameter ${name} is not described; it is served as a string of any form; describe it`,
      )
    return [...(list ?? []), ...added.map(stringParameter)]
  }
}

const stringParameter = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } })

const templatesOf = (path: string): string[] => [
  ...new Set(Array.from(path.matchAll(/\{([^{}]+)\}/g), ([, name]) => name as string)),
]

/** Returns a copy of a path item in which the holder at some keys has a list of parameters, unless it has it already. */
function withParameters(node: Node, [key, ...below]: string[], parameters: unknown): Node {
  if (key === undefined) return node.parameters === parameters ? node : { ...node, parameters }
  const held = withParameters(node[key] as Node, below, parameters)
  return held === node[key] ? node : { ...node, [key]: held }
}

/** Returns the parameters in a list whose structure is valid so far. */
function parametersIn(document: Document, list: unknown): Parameter[] {
  const found: Parameter[] = []
  for (const each of Array.isArray(list) ? list : []) {
    const parameter = parameterAt(document, each)
    if (parameter !== undefined) found.push(parameter)
  }
  return found
}

function parameterAt(document: Document, given: unknown): Parameter | undefined {
  const found = targetOf(document, given)
  return typeof found?.name === 'string' && typeof found.in === 'string' ? (found as Parameter) : undefined
}

/** The names of the path and of its query, and the parameters of the path item above an operation. */
type Scope = { names: string[]; query: string[]; above: Parameter[] }

/** Returns a list of parameters without those that count for nothing, and with the names of the path. */
function plainList(document: Document, given: unknown, scope: Scope, { pointer, advise }: Place): unknown {
  if (!Array.isArray(given)) return given
  const described = given.map((each) => parameterAt(document, each))
  const firstOf = new Map<string, number>()
  const lastOf = new Map<string, number>()
  for (const [index, each] of described.entries()) {
    if (each === undefined) continue
    const key = parameterKey(each)
    lastOf.set(key, index)
    if (!firstOf.has(key)) firstOf.set(key, index)
  }
  const list: unknown[] = []
  for (const [index, each] of given.entries()) {
    const parameter = described[index]
    if (parameter === undefined || isIgnored(parameter)) {
      list.push(each)
      continue
    }
    const report = (kind: Advised, text: string) => advise(kind, join(pointer, 'parameters', String(index)), text)
    const key = parameterKey(parameter)
    if (lastOf.get(key) !== index) continue
    const first = firstOf.get(key) as number
    if (first !== index) {
      const isEqual = stringifyJson(described[first]) === stringifyJson(parameter)
      const counted = isEqual ? '' : ', and differently; the last description counts'
      report(
        'duplicate-parameter',
        `${parameter.in} parameter ${parameter.name} is described twice${counted}; remove one of both`,
      )
    }
    const renamed = plainParameter(parameter, described, scope, report)
    if (renamed !== undefined) list.push(renamed === parameter ? each : renamed)
  }
  return list.length === given.length && list.every((each, index) => each === given[index]) ? given : list
}

/** Returns a parameter under the name that the path or the path item has for it; undefined if the path has none. */
function plainParameter(
  parameter: Parameter,
  beside: (Parameter | undefined)[],
  { names, query, above }: Scope,
  report: (kind: Advised, text: string) => void,
): Parameter | undefined {
  const { in: location, name } = parameter
  if (location === 'header') {
    const other = above.find((one) => parameterKey(one) === parameterKey(parameter) && one.name !== name)
    if (other === undefined) return parameter
    report(
      'duplicate-parameter',
      `header parameter ${name} is ${other.name} of the path, since the case of a header does not matter; use one name`,
    )
    return { ...parameter, name: other.name }
  }
  if (location !== 'path' || names.includes(name) || query.includes(name)) return parameter
  const isAlike = (each: Parameter | undefined) =>
    each?.in === 'path' && !names.includes(each.name) && plainName(each.name) === plainName(name)
  // Of several parameters that mean one name, the first is read.
  const isFirst = beside.find(isAlike) === parameter
  const isFree = (one: string) =>
    isFirst && ![...beside, ...above].some((each) => each?.in === 'path' && each.name === one)
  const [meant, ...others] = names.filter((one) => plainName(one) === plainName(name))
  if (meant === undefined || others.length > 0 || !isFree(meant)) {
    report(
      'unused-path-parameter',
      `path parameter ${name} is not in the path, so it is ignored; remove it, or add it to the path`,
    )
    return undefined
  }
  report('unused-path-parameter', `path parameter ${name} is not in the path; it is read as ${meant}; correct its name`)
  return { ...parameter, name: meant }
}

/** Returns a name without the case and the punctuation that styles of names differ in. */
const plainName = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
