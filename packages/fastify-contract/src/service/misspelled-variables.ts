/** An environment variable without effect, and the variable of the service that is probably meant. */
export type Misspelled = { given: string; meant: string }

/** The length of a name from which on another name with one other letter is hardly a variable of something else. */
const longName = 6

/**
 * Returns the names that are probably misspelled names of variables of the service. Other programs share the environment,
 * such as POST, PORT0 and PETS_PORT beside PORT, so few names count: those with two adjacent letters exchanged, and, for
 * long names, those with one letter more, less or different. A digit, or a name that is right beside it, speaks against it.
 *
 * @param names The names of the variables that are set.
 * @param known The names of the variables of the service.
 */
export function misspelledVariables(names: string[], known: string[]): Misspelled[] {
  const set = new Set(names)
  const found: Misspelled[] = []
  for (const given of names) {
    if (known.includes(given)) continue
    const meant = known.find((name) => !set.has(name) && isMisspelling(given, name))
    if (meant !== undefined) found.push({ given, meant })
  }
  return found
}

function isMisspelling(given: string, name: string): boolean {
  if (Math.abs(given.length - name.length) > 1) return false
  const start = commonStart(given, name)
  const [one, other] = [given.slice(start), name.slice(start)]
  const isExchanged = one[0] === other[1] && one[1] === other[0] && one.slice(2) === other.slice(2)
  if (one.length === other.length && isExchanged) return true
  if (name.length < longName || /\d/.test(given)) return false
  // What follows the letter that one of them has more, or that differs in both.
  const [rest, otherRest] = [
    one.slice(Number(one.length >= other.length)),
    other.slice(Number(one.length <= other.length)),
  ]
  return rest === otherRest
}

/** Returns how many characters two texts have in common at their start. */
function commonStart(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return length
}
