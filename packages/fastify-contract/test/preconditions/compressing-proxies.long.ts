import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import { freePort } from 'fastify-contract-test-support/free-port'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { serveDocument } from '../support/serve-document.ts'
import { noteDocument, noteHandlers } from '../support/tagged-note.ts'

/** Serves the note and returns its port. */
async function serve(t: Test): Promise<number> {
  const app = await serveDocument(noteDocument, {
    handlers: noteHandlers as never,
  })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

type Place = { directory: string; port: number; target: number }

/** A proxy: its command, which prints its version with `version`, and its configuration. */
type Proxy = { program: string; version: string; args(file: string): string[]; configuration(place: Place): string }

const nginx = (more: string): Proxy => ({
  ...{ program: 'nginx', version: '-v' },
  args: (file) => ['-c', file, '-e', 'stderr'],
  configuration: ({ directory, port, target }) => `
    daemon off; master_process off; pid ${directory}/pid; error_log stderr;
    events {}
    http {
      access_log off;
      ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((one) => `${one}_temp_path ${directory};`).join(' ')}
      gzip on; gzip_types application/json;
      server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${target}; ${more} } }
    }`,
})

const apache = (...more: string[]): Proxy => ({
  ...{ program: 'apache2', version: '-v' },
  args: (file) => ['-D', 'FOREGROUND', '-f', file],
  configuration: ({ directory, port, target }) =>
    [
      ...[`ServerRoot ${directory}`, `PidFile ${directory}/pid`, `ErrorLog ${directory}/log`, 'ServerName localhost'],
      `Mutex file:${directory} default`,
      ...['mpm_event', 'authz_core', 'filter', 'deflate', 'headers', 'proxy', 'proxy_http'].map(
        (name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`,
      ),
      ...[`Listen 127.0.0.1:${port}`, `ProxyPass / http://127.0.0.1:${target}/`],
      ...['AddOutputFilterByType DEFLATE application/json', ...more, ''],
    ].join('\n'),
})

const haproxy: Proxy = {
  ...{ program: 'haproxy', version: '-v' },
  args: (file) => ['-f', file],
  configuration: ({ port, target }) =>
    [
      ...['defaults', ' mode http', ' timeout client 5s', ' timeout server 5s', ' timeout connect 5s'],
      ...['listen proxy', ` bind 127.0.0.1:${port}`, ` server note 127.0.0.1:${target}`],
      ...[' compression algo gzip', ' compression type application/json', ''],
    ].join('\n'),
}

const caddy: Proxy = {
  ...{ program: 'caddy', version: 'version' },
  args: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
  configuration: ({ port, target }) => `
{
  admin off
  auto_https off
}
http://127.0.0.1:${port} {
  encode gzip
  reverse_proxy 127.0.0.1:${target}
}
`,
}

/** The tag that a client gets, whether the response is compressed, and what requests with that tag get. */
type Seen = { etag: string | null; isCompressed: boolean; read: number; write: number }

const weakened: Seen = { etag: 'W/"v1"', isCompressed: true, read: 304, write: 412 }
const kept: Seen = { etag: '"v1"', isCompressed: true, read: 304, write: 204 }

const edits = ['If-None-Match', 'If-Match'].map((name) => `RequestHeader edit* ${name} "-gzip\\"" "\\""`)

/** What docs/conditional-requests.md says about each. */
const proxies: Record<string, [Proxy, Seen]> = {
  nginx: [nginx(''), weakened],
  'nginx with gzip off': [nginx('gzip off;'), { ...kept, isCompressed: false }],
  HAProxy: [haproxy, weakened],
  Apache: [apache(), { ...kept, etag: '"v1-gzip"', read: 200, write: 412 }],
  'Apache with edited requests': [apache(...edits), { ...kept, etag: '"v1-gzip"' }],
  'Apache with DeflateAlterETag NoChange': [apache('DeflateAlterETag NoChange'), kept],
  'Apache with DeflateAlterETag Remove': [apache('DeflateAlterETag Remove'), { ...kept, etag: null, read: 200 }],
  Caddy: [caddy, kept],
}

/** Returns why a proxy cannot run; false if it can. */
async function skipReason({ program, version }: Proxy): Promise<string | false> {
  const { code } = await spawnProcess([program, version])
    .untilEnded()
    .catch(() => ({ code: -1 }))
  return code === 0 ? false : `NOT RUN: ${program} is not installed`
}

for (const [title, [proxy, expected]] of Object.entries(proxies))
  t.test(`a strong tag through ${title}`, { skip: await skipReason(proxy) }, async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'compressing-proxy-'))
    t.teardown(() => rmSync(directory, { recursive: true }))
    const port = await freePort()
    const file = join(directory, 'configuration')
    writeFileSync(file, proxy.configuration({ directory, port, target: await serve(t) }))
    const env = { HOME: directory, XDG_CONFIG_HOME: directory, XDG_DATA_HOME: directory }
    const running = spawnProcess([proxy.program, ...proxy.args(file)], { env })
    t.teardown(() => running.stop('SIGTERM'))
    const send = async (method: string, headers: Record<string, string> = {}) =>
      await fetch(`http://127.0.0.1:${port}/note`, { method, headers: { 'accept-encoding': 'gzip', ...headers } })
    await until(
      () =>
        send('GET').then(
          ({ ok }) => ok,
          () => false,
        ),
      proxy.program,
    )
    const { headers } = await send('GET')
    const etag = headers.get('etag')
    const isCompressed = headers.get('content-encoding') === 'gzip'
    const read = (await send('GET', etag === null ? {} : { 'if-none-match': etag })).status
    const write = (await send('PUT', etag === null ? {} : { 'if-match': etag })).status
    t.same({ etag, isCompressed, read, write }, expected)
  })
