import { TargetError } from './target-error.ts'

/** Why no connection could be made, by the code of the error. */
const unreachable: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there; start the server, or correct the URL',
  ENOTFOUND: 'its host name is unknown; correct the URL',
  EAI_AGAIN: 'its host name cannot be looked up; check the network',
  EHOSTUNREACH: 'there is no route to its host; check the network',
  ENETUNREACH: 'there is no route to its network; check the network',
  ETIMEDOUT: 'its host does not respond; check the URL and the network',
  EADDRNOTAVAIL: 'its address cannot be used from here; correct the URL',
  EACCES: 'the system forbids the connection',
}

/** The codes of OpenSSL and of Node.js for a failed handshake or an untrusted certificate. */
const tlsCode =
  /^(?:E(?:RR_)?(?:TLS|SSL|PROTO)|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_|INVALID_|PATH_LENGTH_)/

/** Returns an error of node:http as a TargetError that names the server and a remedy. */
export function describedFailure(server: string, error: Error & { code?: string; reason?: string }): TargetError {
  if (error instanceof TargetError) return error
  const { code = '', message, reason } = error
  const cannotReach = unreachable[code]
  if (cannotReach !== undefined)
    return new TargetError('unreachable', `cannot reach ${server} (${code}): ${cannotReach}`, error)
  if (tlsCode.test(code) || message.includes('before secure TLS connection')) {
    const remedy = 'use a certificate that Node.js trusts, or name its authority in NODE_EXTRA_CA_CERTS'
    return new TargetError('tls', `no TLS connection to ${server} (${code}): ${reason ?? message}; ${remedy}`, error)
  }
  if (code.startsWith('HPE_'))
    return new TargetError('broken', `the response of ${server} is not valid HTTP/1.1: ${reason ?? message}`, error)
  return new TargetError('broken', `the server closed the connection before the response was complete (${code})`, error)
}
