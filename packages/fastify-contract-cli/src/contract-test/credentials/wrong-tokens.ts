/** RFC 7515 section 7.1: three parts in base64url. */
const compactJws = /^(eyJ[\w-]+)\.([\w-]+)\.([\w-]{8,})$/

/**
 * Returns the texts that differ from a JSON Web Token in one way, so that no server may accept them, by what is wrong. Returns
 * none for another text.
 */
export function wrongTokens(token: string): Record<string, string> {
  const [, head = '', payload = '', signature = ''] = compactJws.exec(token) ?? []
  const [header, claims] = [membersOf(head), membersOf(payload)]
  if (header === undefined) return {}
  // The last character of a signature may have unused bits.
  const other = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1)
  return {
    'a token whose signature is wrong': `${head}.${payload}.${other}`,
    // RFC 8725 section 2.1
    'a token without a signature': `${encode({ ...header, alg: 'none' })}.${payload}.`,
    // The payload of a token that is encrypted is unknown.
    ...(claims !== undefined && {
      'a token whose claims were changed': `${head}.${encode({ ...claims, sub: 'another subject' })}.${signature}`,
    }),
  }
}

/** Returns the members of an object as JSON in base64url; undefined for any other text. */
function membersOf(part: string): object | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
