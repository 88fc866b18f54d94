import type { Operation } from './routes.ts'

/**
 * Throws one error that lists every operation without a handler, security scheme without a verifier, and handler
 * without an operation. Otherwise requests would get a 500 or skip authentication, or a handler would never be called.
 */
export function checkBinding(operations: Operation[], handlers: object, verifiers: object): void {
  const problems: string[] = []
  const ids = new Set(operations.map(({ operationId }) => operationId))
  for (const { operationId, security } of operations) {
    const name = `operation ${operationId}`
    if (!Object.hasOwn(handlers, operationId)) problems.push(`${name} has no handler; add it to src/handlers.ts`)
    for (const scheme of security.flatMap((requirement) => Object.keys(requirement))) {
      if (!Object.hasOwn(verifiers, scheme))
        problems.push(`${name}: security scheme ${scheme} has no verifier; add one in src/app.ts`)
    }
  }
  for (const id of Object.keys(handlers)) {
    if (!ids.has(id))
      problems.push(`handler ${id} has no operation in the document; remove it, or describe its operation`)
  }
  if (problems.length > 0) throw new Error(['the document and its handlers do not match', ...problems].join('\n  '))
}
