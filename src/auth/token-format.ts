import { crc32 } from 'node:zlib'

const prefix = 'plants_'

/** Finds a token of ours anywhere in a text: the prefix, 32 bytes and a checksum of 4, both in base64url. */
export const tokenPattern = /plants_[A-Za-z0-9_-]{49}/

/** Returns the token of 32 random bytes, in the alphabet of RFC 6750 section 2.1. */
export function formatToken(secret: Buffer): string {
  const unchecked = prefix + secret.toString('base64url')
  return unchecked + checksum(unchecked)
}

/** Whether a token has our prefix but no length or checksum to match: no list can have it. */
export const isMistyped = (token: string): boolean =>
  token.startsWith(prefix) && !(token.length === 56 && token.endsWith(checksum(token.slice(0, -6))))

/** CRC-32 finds every wrong character and every two that changed places. */
function checksum(text: string): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(text))
  return bytes.toString('base64url')
}
