import { crc32 } from 'node:zlib'

const prefix = 'plants_'

/**
 * Matches a token of this service anywhere in a text: the prefix, 32 bytes and a checksum of 4 bytes, both in
 * base64url.
 */
export const tokenPattern = /plants_[A-Za-z0-9_-]{49}/

/** Formats 32 random bytes as a token, in the alphabet of RFC 6750 section 2.1. */
export function formatToken(secret: Buffer): string {
  const unchecked = prefix + secret.toString('base64url')
  return unchecked + checksum(unchecked)
}

/**
 * Returns whether a token has the prefix of this service but a wrong length or checksum. Such a token is rejected
 * without a look-up in the token file.
 */
export const isMistyped = (token: string): boolean =>
  token.startsWith(prefix) && !(token.length === 56 && token.endsWith(checksum(token.slice(0, -6))))

/** Returns a CRC-32, which detects every single wrong character and every swap of two characters. */
function checksum(text: string): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(text))
  return bytes.toString('base64url')
}
