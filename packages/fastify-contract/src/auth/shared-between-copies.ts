const shared: Record<symbol, unknown> = globalThis as object as Record<symbol, unknown>

/**
 * Returns a value that all copies of this package in a process have: the commands bring a copy of their own, which tests
 * the one of a project.
 *
 * @param name A name with a number that changes with the type, so that copies of different versions do not share it.
 */
export function sharedBetweenCopies<Value>(name: string, create: () => Value): Value {
  const key = Symbol.for(`fastify-contract: ${name}`)
  shared[key] ??= create()
  return shared[key] as Value
}
