/** The minimum length of a secret. A shorter one would replace parts of words, and protect nothing. */
const minLength = 4

/** Returns whether a secret is long enough. */
export const isMasked = (secret: string): boolean => secret.length >= minLength

/** The length of the parts of a secret that are masked alone, since a server may split or cut it. */
const partLength = 12

/**
 * Returns a function that replaces secrets in a text: plain, in a URL, in JSON, in HTML, in hexadecimal, in base64 also within
 * a longer text, by their bytes, and each part of 12 characters.
 *
 * @param secrets The texts that stand for secrets, by secret.
 */
export function secretMask(secrets: ReadonlyMap<string, string>): (text: string) => string {
  const whole = new Map<string, string>()
  const parts = new Map<string, string>()
  for (const [secret, name] of secrets) {
    // The name of a user is no secret, but the password after it is one.
    const password = secret.slice(secret.indexOf(':') + 1)
    for (const text of new Set([secret, password])) for (const form of formsOf(text)) addNew(whole, form, name)
    for (const form of [...formsOf(password), ...innerForms(password)])
      for (let start = 0; start + partLength <= form.length; start++)
        addNew(parts, form.slice(start, start + partLength), name)
  }
  // A secret may be the beginning of another one.
  const forms = [...whole].sort(([one], [other]) => other.length - one.length)
  return function maskSecrets(text) {
    let masked = text
    for (const [form, name] of forms) masked = masked.replaceAll(form, () => name)
    return withoutParts(masked, parts)
  }
}

function addNew(map: Map<string, string>, key: string, value: string): void {
  if (!map.has(key)) map.set(key, value)
}

/** Replaces each longest run of characters that consists of parts. */
function withoutParts(text: string, parts: ReadonlyMap<string, string>): string {
  if (parts.size === 0) return text
  const nameAt = (start: number) => parts.get(text.slice(start, start + partLength))
  let written = ''
  let from = 0
  for (let start = 0; start + partLength <= text.length; start++) {
    const name = nameAt(start)
    if (name === undefined) continue
    let last = start
    while (nameAt(last + 1) !== undefined) last++
    written += text.slice(from, start) + name
    from = last + partLength
    start = from - 1
  }
  return written + text.slice(from)
}

/** Returns a secret as it may occur as a whole. */
function formsOf(secret: string): string[] {
  if (!isMasked(secret)) return []
  const bytes = Buffer.from(secret)
  const inUrl = encodeURIComponent(secret.toWellFormed())
  const inJson = JSON.stringify(secret).slice(1, -1)
  const texts = [
    secret,
    inUrl,
    inUrl.replace(/%[\dA-F]{2}/g, (octet) => octet.toLowerCase()),
    inUrl.replaceAll('%20', '+'),
    inJson,
    // PHP escapes slashes.
    inJson.replaceAll('/', '\\/'),
    secret.replace(/[&<>"']/g, (character) => htmlNames[character] ?? character),
  ]
  const encoded = [bytes.toString('base64'), bytes.toString('base64url')]
  const digits = bytes.toString('hex')
  const octets = texts.map((text) => Buffer.from(text).toString('latin1'))
  return [...new Set([...texts, ...encoded, digits, digits.toUpperCase(), ...octets])]
}

const htmlNames: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Returns what of the base64 of a longer text depends on a secret in it only, at each of the three offsets. */
function innerForms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [1, 2].flatMap(function atOffset(offset) {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
    return (['base64', 'base64url'] as const).map((encoding) => encoded.toString(encoding).slice(offset + 1))
  })
}
