import { join } from 'node:path'
import { freePort } from 'fastify-contract-test-support/free-port'
import { type ReverseProxy, startNginx, startProxy, write } from './reverse-proxy.ts'

/** A proxy program. It starts in front of the port of a service, with files in the given directory. */
export type UploadProxy = {
  name: string
  program: string
  start(service: number, directory: string): Promise<ReverseProxy>
}

const nginx = (name: string, directives: string): UploadProxy => ({
  name,
  program: 'nginx',
  async start(service, directory) {
    const port = await freePort()
    // The default limit of 1 MiB would make nginx send the 413 itself.
    const location = `proxy_pass http://127.0.0.1:${service}; client_max_body_size 100m; ${directives}`
    return await startNginx(`server { listen 127.0.0.1:${port}; location / { ${location} } }`, port, directory)
  },
})

const overHttp11 = 'proxy_http_version 1.1; proxy_set_header Connection "";'
const unbuffered = 'proxy_request_buffering off;'

const haproxy: UploadProxy = {
  name: 'haproxy',
  program: 'haproxy',
  async start(service, directory) {
    const port = await freePort()
    const path = write(directory, 'haproxy.cfg', [
      'defaults\n mode http\n timeout connect 1s\n timeout client 30s\n timeout server 30s',
      `listen uploads\n bind 127.0.0.1:${port}\n server one 127.0.0.1:${service}`,
    ])
    return await startProxy(['haproxy', '-db', '-f', path], port)
  },
}

const apache: UploadProxy = {
  name: 'apache',
  program: 'apache2',
  async start(service, directory) {
    const port = await freePort()
    const modules = ['mpm_event', 'proxy', 'proxy_http', 'authz_core']
    const path = write(directory, 'apache.conf', [
      ...modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
      `Listen 127.0.0.1:${port}\nServerName localhost\nServerRoot ${directory}`,
      `PidFile ${join(directory, 'apache.pid')}\nDefaultRuntimeDir ${directory}\nMutex fcntl:${directory}`,
      `ErrorLog ${join(directory, 'apache.log')}`,
      `ProxyPass / http://127.0.0.1:${service}/`,
    ])
    return await startProxy(['apache2', '-D', 'FOREGROUND', '-f', path], port)
  },
}

const caddy: UploadProxy = {
  name: 'caddy',
  program: 'caddy',
  async start(service, directory) {
    const port = await freePort()
    const path = write(directory, 'Caddyfile', [
      '{\n admin off\n}',
      `http://127.0.0.1:${port} {\n reverse_proxy 127.0.0.1:${service}\n}`,
    ])
    return await startProxy(['caddy', 'run', '--adapter', 'caddyfile', '--config', path], port)
  },
}

const varnish: UploadProxy = {
  name: 'varnish',
  program: 'varnishd',
  async start(service, directory) {
    const port = await freePort()
    const files = join(directory, 'varnish')
    const command = ['varnishd', '-F', '-n', files, '-a', `127.0.0.1:${port}`, '-b', `127.0.0.1:${service}`]
    return await startProxy([...command, '-s', 'malloc,64m'], port)
  },
}

/** Proxies as they behave by default, but for nginx, whose most common settings are all listed. */
export const uploadProxies: UploadProxy[] = [
  nginx('nginx', ''),
  nginx('nginx unbuffered', unbuffered),
  nginx('nginx HTTP/1.1', overHttp11),
  nginx('nginx HTTP/1.1 unbuffered', `${overHttp11} ${unbuffered}`),
  haproxy,
  apache,
  caddy,
  varnish,
]
