import type { AddressInfo } from 'node:net'

export type ListenAddress = { host: string; port: number }

/**
 * Starts a server and resolves with its URL (RFC 3986 section 3.2.2) once it listens. `prefix` is the prefix of the
 * environment variables HOST and PORT. Rejects with a one-line message that names the variable to change.
 */
export async function listen(
  start: (address: ListenAddress) => Promise<unknown>,
  server: { address(): AddressInfo | string | null },
  { host, port }: ListenAddress,
  prefix = '',
): Promise<string> {
  const reasons: Record<string, string> = {
    EADDRINUSE: `${prefix}PORT is ${port}: another process listens on ${host}:${port}; use a free port`,
    EADDRNOTAVAIL: `${prefix}HOST is ${host}: this machine has no such address; use one of its own`,
    EACCES: `${prefix}PORT is ${port}: this user may not listen on that port; use port 1024 or above`,
  }
  await start({ host, port }).catch((error: Error & { code?: string }) => {
    const reason = reasons[error.code as string]
    throw reason === undefined ? error : new Error(reason)
  })
  const bound = server.address() as AddressInfo
  return `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`
}
