import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from 'fastify-contract-test-support/free-port'
import type { Instance } from '../instance-pair.ts'
import { installedProgram } from './installed-programs.ts'
import { recommended, withPorts } from './proxy-page.ts'
import { type ReverseProxy, startProxy, write } from './proxy-process.ts'

/** What a proxy forwards by default, the configuration of the page, and the default that compresses JSON. */
export type Kind = 'default' | 'recommended' | 'compressing'

type Place = { program: string; port: number; directory: string }

/** A proxy of the matrix. */
export type ProxyProgram = {
  name: string
  /** Resolves with the path of the program; undefined if this machine cannot have it. */
  program(directory: string): Promise<string | undefined>
  /** The arguments and the pattern of the command that prints the version. */
  version: [string, RegExp]
  /** The language of its block on the page. */
  language: string
  /** Returns the configuration that forwards from a port to an instance, and does nothing else. */
  plain(port: number, service: number): string
  /** Returns that configuration with compression, if the proxy can compress. */
  compressing?(port: number, service: number): string
  /** Writes the files of a configuration; returns the command that runs the proxy in the foreground. */
  command(text: string, place: Place): string[]
}

const onPath = (program: string) => () => installedProgram(program)

const nginxServer = (port: number, service: number, directives: string) =>
  `server { listen 127.0.0.1:${port}; client_max_body_size 100m; location / { proxy_pass http://127.0.0.1:${service}; ${directives} } }`

const nginx: ProxyProgram = {
  name: 'nginx',
  program: onPath('nginx'),
  version: ['-v', /nginx\/(\S+)/],
  language: 'nginx',
  plain: (port, service) => nginxServer(port, service, ''),
  compressing: (port, service) =>
    nginxServer(port, service, 'proxy_http_version 1.1; gzip on; gzip_types application/json; gzip_proxied any;'),
  command(text, { program, directory }) {
    // A packaged nginx keeps its pid, log and temporary files in system directories.
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${join(directory, name)};`,
    )
    const log = join(directory, 'nginx.log')
    const path = write(directory, 'nginx.conf', [
      `daemon off; worker_processes 2; pid ${join(directory, 'nginx.pid')}; error_log ${log}; events {}`,
      ['http {', 'access_log off;', ...temporary, text, '}'].join('\n'),
    ])
    return [program, '-e', log, '-p', directory, '-c', path]
  },
}

/** nginx as it is by default, but for the buffering of request bodies. */
export const unbufferedNginx: ProxyProgram = {
  ...nginx,
  name: 'nginx unbuffered',
  plain: (port, service) =>
    nginxServer(port, service, 'proxy_http_version 1.1; proxy_set_header Connection ""; proxy_request_buffering off;'),
}

const haproxyListen = (port: number, service: number, more = '') =>
  [
    'defaults\n mode http\n timeout connect 1s\n timeout client 30s\n timeout server 30s',
    `listen service\n bind 127.0.0.1:${port}\n server one 127.0.0.1:${service}\n${more}`,
  ].join('\n')

const haproxy: ProxyProgram = {
  name: 'HAProxy',
  program: onPath('haproxy'),
  version: ['-v', /version (\d+\.\d+\.\d+)/],
  language: 'haproxy',
  plain: (port, service) => haproxyListen(port, service),
  compressing: (port, service) =>
    haproxyListen(port, service, ' compression algo gzip\n compression type application/json'),
  command: (text, { program, directory }) => [program, '-db', '-f', write(directory, 'haproxy.cfg', [text])],
}

const apacheModules = [
  'mpm_event',
  'authz_core',
  'proxy',
  'proxy_http',
  'slotmem_shm',
  'proxy_balancer',
  'lbmethod_byrequests',
  'headers',
  'env',
  'filter',
  'deflate',
]

const apache: ProxyProgram = {
  name: 'Apache',
  program: onPath('apache2'),
  version: ['-v', /Apache\/(\S+)/],
  language: 'apache',
  plain: (port, service) => `Listen 127.0.0.1:${port}\nProxyPass / http://127.0.0.1:${service}/`,
  compressing: (port, service) => `${apache.plain(port, service)}\nAddOutputFilterByType DEFLATE application/json`,
  command(text, { program, directory }) {
    const path = write(directory, 'apache.conf', [
      ...apacheModules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
      `ServerName localhost\nServerRoot ${directory}`,
      `PidFile ${join(directory, 'apache.pid')}\nDefaultRuntimeDir ${directory}\nMutex fcntl:${directory}`,
      `ErrorLog ${join(directory, 'apache.log')}`,
      text,
    ])
    return [program, '-D', 'FOREGROUND', '-f', path]
  },
}

const caddySite = (port: number, service: number, more = '') =>
  `http://:${port} {\n bind 127.0.0.1\n reverse_proxy 127.0.0.1:${service}\n ${more}\n}`

const caddy: ProxyProgram = {
  name: 'Caddy',
  program: (directory) => installedProgram('caddy 2.11.9', directory),
  version: ['version', /v?(\d+\.\d+\.\d+)/],
  language: 'caddyfile',
  plain: (port, service) => caddySite(port, service),
  compressing: (port, service) => caddySite(port, service, 'encode gzip'),
  command: (text, { program, directory }) => {
    const path = write(directory, 'Caddyfile', ['{\n admin off\n auto_https off\n}', text])
    return [program, 'run', '--adapter', 'caddyfile', '--config', path]
  },
}

/** The Caddy of Debian 12. */
const oldCaddy: ProxyProgram = {
  ...caddy,
  name: 'Caddy 2.6',
  program: onPath('caddy'),
  command: (text, place) =>
    caddy.command(text.replace('request_buffers 16MB', 'buffer_requests\nmax_buffer_size 16MB'), place),
}

const varnish: ProxyProgram = {
  name: 'Varnish',
  program: onPath('varnishd'),
  version: ['-V', /varnish-(\S+)/],
  language: 'vcl',
  plain: (_port, service) => `vcl 4.1;\nbackend default { .host = "127.0.0.1"; .port = "${service}"; }`,
  compressing: (port, service) =>
    `${varnish.plain(port, service)}\nsub vcl_backend_response { set beresp.do_gzip = true; }`,
  command(text, { program, directory, port }) {
    const path = write(directory, 'service.vcl', [text])
    // The page has the command in a comment, since the port and the parameters are not part of the configuration.
    const parameters = /^# varnishd .* -f service\.vcl (.*)$/m.exec(text)?.[1]?.split(' ') ?? []
    const files = ['-n', join(directory, 'varnish'), '-f', path]
    return [program, '-F', '-a', `127.0.0.1:${port}`, ...files, '-s', 'malloc,64m', ...parameters]
  },
}

const squid: ProxyProgram = {
  name: 'Squid',
  program: onPath('squid'),
  version: ['-v', /Version (\S+)/],
  language: 'squid',
  plain: (port, service) =>
    [
      `http_port 127.0.0.1:${port} accel defaultsite=localhost`,
      `cache_peer 127.0.0.1 parent ${service} 0 no-query originserver`,
      'http_access allow all',
    ].join('\n'),
  command(text, { program, directory, port }) {
    const path = write(directory, 'squid.conf', [
      text,
      `pid_filename ${join(directory, 'squid.pid')}`,
      `cache_log ${join(directory, 'cache.log')}`,
      `coredump_dir ${directory}`,
      'access_log none',
      'shutdown_lifetime 0 seconds',
      'pinger_enable off',
    ])
    // Two processes of one name share memory.
    return [program, '-N', '-n', `matrix${port}`, '-f', path]
  },
}

const envoyListener = (port: number, service: number, filters = '') => `
static_resources:
  listeners:
    - address: { socket_address: { address: 127.0.0.1, port_value: ${port} } }
      filter_chains:
        - filters:
            - name: http
              typed_config:
                '@type': type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: service
                route_config:
                  virtual_hosts:
                    - { name: all, domains: ['*'], routes: [{ match: { prefix: / }, route: { cluster: service } }] }
                http_filters:${filters}
                  - name: router
                    typed_config: { '@type': type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }
  clusters:
    - name: service
      load_assignment:
        cluster_name: service
        endpoints:
          - lb_endpoints:
              - endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: ${service} } } }
`

const compressor = `
                  - name: compressor
                    typed_config:
                      '@type': type.googleapis.com/envoy.extensions.filters.http.compressor.v3.Compressor
                      compressor_library:
                        name: gzip
                        typed_config:
                          '@type': type.googleapis.com/envoy.extensions.compression.gzip.compressor.v3.Gzip`

const envoy: ProxyProgram = {
  name: 'Envoy',
  program: (directory) => installedProgram('envoy 1.39.3', directory),
  version: ['--version', /\/(\d+\.\d+\.\d+)/],
  language: 'yaml',
  plain: (port, service) => envoyListener(port, service),
  compressing: (port, service) => envoyListener(port, service, compressor),
  command: (text, { program, directory }) => {
    const path = write(directory, 'envoy.yaml', [text])
    return [program, '--disable-hot-restart', '--concurrency', '2', '--log-level', 'error', '-c', path]
  },
}

export const proxies: ProxyProgram[] = [nginx, haproxy, apache, caddy, oldCaddy, varnish, squid, envoy]

/** Starts a proxy in front of two instances, of which only the configuration of the page uses the second. */
export async function start(
  { name, command, plain, compressing, language }: ProxyProgram,
  { program, kind, instances, directory, edit = (text) => text }: StartOptions,
): Promise<ReverseProxy> {
  const own = join(directory, `${name}-${kind}`.replace(/\W/g, '-'))
  mkdirSync(own, { recursive: true })
  // Squid drops its privileges before it writes its files.
  chmodSync(own, 0o777)
  const port = await freePort()
  const service = instances[0].port
  const text = {
    default: () => plain(port, service),
    recommended: () => withPorts(recommended(language), port, instances),
    compressing: () => compressing?.(port, service) ?? '',
  }[kind]()
  return await startProxy(command(edit(text), { program, port, directory: own }), port)
}

export type StartOptions = {
  program: string
  kind: Kind
  instances: [Instance, Instance]
  directory: string
  /** Changes the configuration. */
  edit?(text: string): string
}
