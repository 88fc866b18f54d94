import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequestOf } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { httpRequest } from '../../../../test/support/http-request.ts'
import { createVerifiers, mutualTls } from '../../src/auth/verifiers.ts'
import { serveDocument, verifierContext } from '../support/serve-document.ts'

const document = {
  openapi: '3.1.0',
  info: { title: 'Certificates', version: '1.0.0' },
  paths: {
    '/': { get: { operationId: 'read', security: [{ tls: [] }], responses: { 204: { description: 'Done.' } } } },
  },
  components: { securitySchemes: { tls: { type: 'mutualTLS' } } },
}

/** Returns a service that trusts these proxies. */
const serviceBehind = async (trustProxy: string[]) => {
  const tls = mutualTls({
    header: 'X-Client-Cert',
    verify: (certificate) => (certificate === 'known' ? { name: 'device', scopes: [] } : undefined),
  })
  return await serveDocument(document, {
    trustProxy,
    handlers: {
      read: async ({ client }: { client?: { name: string } }) => ({
        status: client?.name === 'device' ? 204 : 500,
        body: undefined,
      }),
    },
    verifiers: (context) => createVerifiers({ tls }, context),
  })
}

/** Returns the status of a request with the headers, from 127.0.0.1, to a service that trusts these proxies. */
const statusOf = async (trustProxy: string[], headers: Record<string, string | string[]>) => {
  const app = await serviceBehind(trustProxy)
  try {
    const origin = await app.listen({ host: '127.0.0.1', port: 0 })
    const { status, headers: answer } = await httpRequest(origin, { method: 'GET', path: '/', headers })
    return status === 401 ? String(answer['www-authenticate']) : status
  } finally {
    await app.close()
  }
}

const challenge = 'MutualTLS realm="plant-store"'

t.test('a certificate counts if a trusted proxy reports it', async (t) => {
  for (const proxies of [['127.0.0.1'], ['10.0.0.1', '127.0.0.0/8'], ['::1/128', '::ffff:127.0.0.1']]) {
    t.equal(await statusOf(proxies, { 'x-client-cert': 'known' }), 204, proxies.join())
  }
  for (const cert of ['', 'unknown', ['known', 'known']]) {
    t.equal(await statusOf(['127.0.0.1'], { 'x-client-cert': cert }), challenge, String(cert))
  }
  t.equal(await statusOf(['127.0.0.1'], { 'client-cert': 'known' }), challenge, 'another header does not count')
})

t.test('a header from any other address is no certificate', async (t) => {
  for (const proxy of ['127.0.0.2', '10.0.0.0/8', '::1']) {
    const forged = { 'x-client-cert': 'known', 'x-forwarded-for': '127.0.0.2' }
    t.equal(await statusOf([proxy], forged), challenge, proxy)
  }
})

t.test('a client of an IPv6 address or a Unix socket is a proxy only if its address is listed', async (t) => {
  const headers = { 'x-client-cert': 'known' }
  const app = await serviceBehind(['::1'])
  t.teardown(() => app.close())
  for (const [remoteAddress, status] of [
    ['::1', 204],
    ['::2', 401],
  ] as const) {
    t.equal((await app.inject({ url: '/', headers, remoteAddress })).statusCode, status, remoteAddress)
  }
  // The path of a Unix socket has at most 107 bytes, and a longer one is cut off.
  const directory = mkdtempSync(join(tmpdir(), 'socket-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  const socketPath = join(directory, 'http.sock')
  await app.listen({ path: socketPath })
  const [response] = await once(httpRequestOf({ socketPath, path: '/', headers }).end(), 'response')
  t.equal(response.resume().statusCode, 401, 'a Unix socket has no address')
})

t.test('the service does not start unless the operator names the header and trusts a proxy', async (t) => {
  const context = verifierContext(undefined as never)
  const create = (header: string, trustProxy: string[]) => () =>
    mutualTls({ header, verify: () => undefined })({ ...context, trustProxy })
  t.throws(create('Client-Cert', []), {
    message: 'mutualTls: any client could send Client-Cert; set trustProxy to the addresses of your proxy',
  })
  for (const header of ['', 'a b', 'a:']) {
    t.throws(create(header, ['127.0.0.1']), {
      message: `mutualTls: ${JSON.stringify(header)} is not a header; name the one with the client certificate`,
    })
  }
  t.throws(create('Client-Cert', ['10.0.0.0/8', 'loopback']), {
    message: 'mutualTls: trustProxy has loopback; use IP addresses and CIDR ranges',
  })
})
