import type { Endpoint } from '../document/openapi-document.ts'

/**
 * Returns the beginning of the names of the types of each operation, by operationId: the operationId in Pascal case, such
 * as GetPet of get_pet. No two are the same.
 */
export function typeNames(all: Pick<Endpoint, 'operationId'>[]): Map<string, string> {
  const taken = new Set<string>()
  const names = new Map<string, string>()
  for (const { operationId } of all) {
    const name = pascalCase(operationId)
    let unique = name
    for (let count = 2; taken.has(unique); count++) unique = `${name}_${count}`
    taken.add(unique)
    names.set(operationId, unique)
  }
  return names
}

/** Returns an identifier for a text: its words, each with a capital letter. */
function pascalCase(text: string): string {
  const words = text.split(/[^\p{L}\p{Nd}]+/u).map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  const name = words.join('')
  return /^\p{L}/u.test(name) ? name : `Operation${name}`
}
