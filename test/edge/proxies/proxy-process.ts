import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import { freePort } from 'fastify-contract-test-support/free-port'
import { until } from 'fastify-contract-test-support/poll'
import type { Instance } from './instance-pair.ts'

/** A running proxy program. */
export type ReverseProxy = { port: number; stop(): Promise<unknown> }

/** Starts a proxy in front of two instances, with files in the given directory; resolves when it listens. */
export type StartProxy = (instances: [Instance, Instance], directory: string) => Promise<ReverseProxy>

/**
 * Returns a function that starts nginx with deploy/nginx.conf.
 *
 * @param retries Whether nginx sends a POST to the other instance after a connection broke; by default it does not.
 */
export const nginx =
  (retries: boolean): StartProxy =>
  async (instances, directory) => {
    const { port, text } = await configuration('deploy/nginx.conf', instances)
    const server = retries ? text : replace(text, /^ *proxy_next_upstream .*\n/m, '')
    return await startNginx(server, port, directory)
  }

/** Starts nginx with a text for its http block. */
export async function startNginx(server: string, port: number, directory: string): Promise<ReverseProxy> {
  // A packaged nginx keeps its pid, log and temporary files in system directories.
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(directory, name)};`,
  )
  const path = write(directory, 'nginx.conf', [
    'daemon off;',
    'worker_processes 2;',
    `pid ${join(directory, 'nginx.pid')};`,
    `error_log ${join(directory, 'nginx.log')};`,
    'events {}',
    ['http {', 'access_log off;', ...temporary, server, '}'].join('\n'),
  ])
  return await startProxy(['nginx', '-e', join(directory, 'nginx.log'), '-p', directory, '-c', path], port)
}

/** Starts HAProxy with deploy/haproxy.cfg. */
export const haproxy: StartProxy = async (instances, directory) => {
  const { port, text } = await configuration('deploy/haproxy.cfg', instances)
  return await startProxy(['haproxy', '-db', '-f', write(directory, 'haproxy.cfg', [text])], port)
}

/** Reads a sample configuration and replaces its ports: those of the instances, and a free one for the proxy. */
async function configuration(path: string, [one, two]: [Instance, Instance]): Promise<{ port: number; text: string }> {
  const port = await freePort()
  let text = replace(readFileSync(path, 'utf8'), '127.0.0.1:8080', `127.0.0.1:${port}`)
  for (const [sample, instance] of [
    [3000, one],
    [3010, two],
  ] as const) {
    text = replace(text, `127.0.0.1:${sample}`, `127.0.0.1:${instance.port}`)
    text = text.replace(`port ${sample + 1}`, `port ${instance.managementPort}`)
  }
  return { port, text }
}

function replace(text: string, what: string | RegExp, by: string): string {
  const replaced = text.replace(what, by)
  if (replaced === text) throw new Error(`the sample configuration lacks ${what}; adapt the test to it`)
  return replaced
}

/** Writes a file of lines and returns its path. */
export function write(directory: string, name: string, parts: string[]): string {
  const path = join(directory, name)
  writeFileSync(path, `${parts.join('\n')}\n`)
  return path
}

/** Starts a proxy program; resolves when it listens. */
export async function startProxy(command: string[], port: number): Promise<ReverseProxy> {
  // A separate process group, so that a signal reaches the proxy's workers, too.
  const running = spawnProcess(command, { detached: true })
  const listens = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy() !== undefined))
      socket.on('error', () => resolve(false))
    })
  await until(async () => {
    if (running.child.exitCode !== null) throw new Error(`${command[0]} ended: ${running.output.stderr}`)
    return await listens()
  }, `${command[0]} listens`)
  return { port, stop: () => running.stop() }
}
