import { createHash } from 'node:crypto'

/** Returns the digest of each file that the service loads, which tell it whether the files belong together. */
export const digestsOf = (files: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [name, digestOf(text)]))

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')
