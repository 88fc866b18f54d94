import type { Operation } from './routes.ts'

/**
 * Throws one error that names everything in which the operations and what is bound to them do not match: a request would
 * meet a 500, an open door or a handler that is never called.
 */
export function checkBinding(operations: Operation[], handlers: object, verifiers: object): void {
  const problems: string[] = []
  const ids = new Set(operations.map(({ operationId }) => operationId))
  for (const { operationId, security } of operations) {
    const name = `operation ${operationId}`
    if (!Object.hasOwn(handlers, operationId)) problems.push(`${name} has no handler`)
    for (const scheme of security.flatMap((requirement) => Object.keys(requirement))) {
      if (!Object.hasOwn(verifiers, scheme)) problems.push(`${name}: security scheme ${scheme} has no verifier`)
    }
  }
  for (const id of Object.keys(handlers)) {
    if (!ids.has(id)) problems.push(`handler ${id} has no operation in the document`)
  }
  if (problems.length > 0) throw new Error(`the document and its handlers do not match:\n  ${problems.join('\n  ')}`)
}
