/** Follows the references and subschemas of a document, in time linear in its size and without deep recursion. */

import { schemasIn } from '../serve/schema-keywords.ts'
import { resolve } from './json-pointer.ts'
import type { Node } from './walk-document.ts'

/** Returns the target of a schema's reference and its subschemas in `keywords`, except boolean schemas. */
export function schemasBelow(document: object, schema: Node, keywords: readonly string[]): Node[] {
  const target = typeof schema.$ref === 'string' ? [resolve(document, schema.$ref)] : []
  const below: unknown[] = keywords.flatMap((keyword) => schemasIn(schema, keyword))
  return [...target, ...below].filter((one): one is Node => typeof one === 'object' && one !== null)
}

/**
 * Returns a function that tells whether a schema, or one that it leads to through its references and `keywords`, is
 * accepted by `isFound`. All calls together visit each schema once.
 */
export function reachability(
  document: object,
  keywords: readonly string[],
  isFound: (schema: Node) => boolean,
): (schema: unknown) => boolean {
  const visited = new Set<Node>()
  const reaching = new Set<Node>()
  return (schema) => {
    if (typeof schema !== 'object' || schema === null) return false
    const unvisited = new Set(visited.has(schema as Node) ? [] : [schema as Node])
    const holders = new Map<Node, Node[]>()
    const found = new Set<Node>()
    // Iteration over a Set includes the elements that are added meanwhile.
    for (const node of unvisited) {
      visited.add(node)
      if (isFound(node)) found.add(node)
      for (const below of schemasBelow(document, node, keywords)) {
        if (reaching.has(below)) found.add(node)
        if (!visited.has(below)) unvisited.add(below)
        const known = holders.get(below)
        if (known === undefined) holders.set(below, [node])
        else known.push(node)
      }
    }
    for (const node of found) {
      reaching.add(node)
      for (const holder of holders.get(node) ?? []) found.add(holder)
    }
    return reaching.has(schema as Node)
  }
}

/**
 * Returns the strongly connected component of each schema, as a number: two schemas have the same one if each leads to
 * the other through references and `keywords`.
 */
export function components(document: object, schemas: Iterable<Node>, keywords: readonly string[]): Map<Node, number> {
  const order = new Map<Node, number>()
  const lowest = new Map<Node, number>()
  const component = new Map<Node, number>()
  const open: Node[] = []
  const enter = (node: Node) => {
    lowest.set(node, order.size)
    order.set(node, order.size)
    open.push(node)
    return { node, below: schemasBelow(document, node, keywords).values() }
  }
  const lower = (node: Node, value: number) => lowest.set(node, Math.min(lowest.get(node) as number, value))
  for (const root of schemas) {
    const path = order.has(root) ? [] : [enter(root)]
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const { node } = last
      const { value: below } = last.below.next()
      if (below !== undefined) {
        if (!order.has(below)) path.push(enter(below))
        else if (!component.has(below)) lower(node, order.get(below) as number)
        continue
      }
      path.pop()
      const holder = path.at(-1)
      if (holder !== undefined) lower(holder.node, lowest.get(node) as number)
      if (lowest.get(node) !== order.get(node)) continue
      const number = order.get(node) as number
      for (const each of open.splice(open.lastIndexOf(node))) component.set(each, number)
    }
  }
  return component
}

/** A recursive function in steps: it yields each call of itself, and continues with the result. */
export type Steps<Result> = Generator<Steps<Result>, Result, Result>

/** Runs a recursive function on a stack of its own, so that deep recursion does not overflow that of JavaScript. */
export function run<Result>(start: Steps<Result>): Result {
  const stack = [start]
  let result: Result | undefined
  for (;;) {
    const { done, value } = (stack.at(-1) as Steps<Result>).next(result as Result)
    if (!done) {
      stack.push(value)
      result = undefined
      continue
    }
    stack.pop()
    if (stack.length === 0) return value
    result = value
  }
}
