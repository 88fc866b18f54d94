import { join } from '../document/json-pointer.ts'
import { isNode, type Node } from '../document/walk-document.ts'
import type { Advise } from './lenient-structure.ts'

/** Returns an operation in which each status is written as OpenAPI writes it: `4XX` and `default`. */
export function lenientStatuses(operation: Node, pointer: string, advise: Advise): Node {
  const { responses } = operation
  if (!isNode(responses)) return operation
  const named = Object.entries(responses).flatMap(([status, response]): [string, unknown][] => {
    const name = /^[1-5]xx$/i.test(status) ? status.toUpperCase() : /^default$/i.test(status) ? 'default' : status
    if (name === status) return [[status, response]]
    const isTaken = Object.hasOwn(responses, name)
    advise(join(pointer, 'responses', status), isTaken ? `is ignored beside ${name}` : `is read as ${name}; correct it`)
    return isTaken ? [] : [[name, response]]
  })
  const isSame = Object.keys(responses).every((status, index) => named[index]?.[0] === status)
  return isSame ? operation : { ...operation, responses: Object.fromEntries(named) }
}
