/** Returns a name of a type for a text: its words, each with a capital letter, such as GetPet for get_pet. */
export function typeName(text: string): string {
  const words = text.split(/[^\p{L}\p{Nd}]+/u).map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  const name = words.join('')
  return /^\p{L}/u.test(name) ? name : `Type${name}`
}

/** With `Parameters` after it, this is the name of a type of the engine, which handler-types.d.ts imports. */
const reserved = 'NoDeclared'

/** Returns the names of types for texts, of which no two are the same, also with another word after them. */
export function typeNames(texts: Iterable<string>): Map<string, string> {
  const taken = new Set([reserved])
  const names = new Map<string, string>()
  for (const text of texts) {
    const name = typeName(text)
    let unique = name
    for (let count = 2; taken.has(unique); count++) unique = `${name}_${count}`
    taken.add(unique)
    names.set(text, unique)
  }
  return names
}
