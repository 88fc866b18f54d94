/** Where somebody listens, and how the variables that say so begin. */
export type Place = { host: string; port: number; prefix?: string }

/** Gives what an error of listening there means, in one line that names the variable to change. */
export function explainListen({ host, port, prefix = '' }: Place, error: Error & { code?: string }): Error {
  const reasons: Record<string, string> = {
    EADDRINUSE: `${prefix}PORT is ${port}: another process listens on ${host}:${port}, allowed: a free port`,
    EADDRNOTAVAIL: `${prefix}HOST is ${host}: this machine has no such address, allowed: one of its own`,
    EACCES: `${prefix}PORT is ${port}: this user may not listen there, allowed: a port from 1024`,
  }
  const reason = reasons[error.code as string]
  return reason === undefined ? error : new Error(reason)
}

/** Gives the URL of an address that a server listens on (RFC 3986 section 3.2.2). */
export const urlOf = ({ address, family, port }: { address: string; family: string; port: number }): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
