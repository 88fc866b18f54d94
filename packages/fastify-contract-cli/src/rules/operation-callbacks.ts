import { join, keysOf } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import { isNode, kindAt, walkObjects } from '../document/walk-document.ts'

/** The member of an operation that holds its callbacks, in a pointer. */
const callbacks = '/callbacks/'

/** Returns whether a location is in a callback of an operation that another location, which holds it, is or holds. */
export function isOfCallback(pointer: string, holder: string): boolean {
  let end = pointer.indexOf(callbacks, holder.length)
  for (; end >= 0; end = pointer.indexOf(callbacks, end + 1))
    if (kindAt(keysOf(pointer.slice(0, end))) === 'operation') return true
  return false
}

/** Returns the pointers of the callbacks of all operations and webhooks of a document. The structure may be invalid. */
export function callbacksIn(document: Document): string[] {
  const found: string[] = []
  walkObjects(document, function collectCallbacks(node, kind, at) {
    const { callbacks: held } = node
    if (kind !== 'operation' || !isNode(held)) return
    for (const name of Object.keys(held)) if (!name.startsWith('x-')) found.push(join(at(), 'callbacks', name))
  })
  return found
}
