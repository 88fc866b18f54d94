/**
 * Request headers that no argument of a tool sets: those of the connection and the framing of a message (RFC 9110
 * sections 7.2, 7.6 and 8.6, RFC 9112 section 6), credentials, and those by which proxies tell a service who calls.
 */
const ownHeaders = new Set([
  'host',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'content-length',
  'content-type',
  'expect',
  'max-forwards',
  'via',
  'authorization',
  'cookie',
  'origin',
  'forwarded',
  'client-cert',
  'client-cert-chain',
  'x-client-cert',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-real-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
])

const ownPrefixes = /^(?:proxy-|sec-|x-forwarded-|x-ssl-|ssl-|x-original-|x-envoy-)/

/** Returns whether an argument of a tool may set a request header, whatever the document describes. */
export function isToolHeader(name: string): boolean {
  const lower = name.toLowerCase()
  return !ownHeaders.has(lower) && !ownPrefixes.test(lower)
}
