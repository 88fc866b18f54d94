import { join } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import { isNode, type Node, walk } from '../document/walk-document.ts'
import { isServed } from './inherited-members.ts'

/**
 * Removes each error response from the operations of a document that a newer one has no response for, and returns their
 * pointers. Clients still work if an error no longer occurs; but if the newer document has a range of statuses or a
 * default for it, the response remains and may differ.
 */
export function removeErrors(older: Document, newer: Document): string[] {
  const others = responsesIn(newer)
  const removed: string[] = []
  for (const [pointer, responses] of responsesIn(older)) {
    const other = others.get(pointer)
    if (other === undefined || Object.hasOwn(other, 'default')) continue
    for (const status of Object.keys(responses)) {
      if (!/^[45]/.test(status) || Object.hasOwn(other, status) || Object.hasOwn(other, `${status[0]}XX`)) continue
      delete responses[status]
      removed.push(join(pointer, status))
    }
  }
  return removed
}

/** Returns the responses of each operation by their pointer. Those of webhooks and callbacks are sent by clients. */
function responsesIn(document: Document): Map<string, Node> {
  const found = new Map<string, Node>()
  walk(document as Node, 'document', '#', ({ responses }, kind, at) => {
    if (kind === 'operation' && isServed(at()) && isNode(responses)) found.set(join(at(), 'responses'), responses)
  })
  return found
}
