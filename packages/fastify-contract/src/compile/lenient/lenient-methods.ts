import { join } from '../document/json-pointer.ts'
import { methods, type Node } from '../document/walk-document.ts'
import type { Advise } from '../rules/reports.ts'

/** Returns a path item whose methods are in lower case, unless it has a method in both cases. */
export function withLowerMethods(item: Node, pointer: string, advise: Advise): Node {
  const taken = new Set(Object.keys(item))
  let isSame = true
  const entries = Object.entries(item).map(([key, value]): [string, unknown] => {
    const lower = key.toLowerCase()
    if (taken.has(lower) || !methods.includes(lower)) return [key, value]
    advise('method-in-upper-case', join(pointer, key), `is read as ${lower}; write methods in lower case`)
    taken.add(lower)
    isSame = false
    return [lower, value]
  })
  return isSame ? item : Object.fromEntries(entries)
}
