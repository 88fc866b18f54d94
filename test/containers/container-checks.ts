import { setTimeout as sleep } from 'node:timers/promises'
import { until } from 'fastify-contract-test-support/poll'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import { token } from '../scenarios/built-service.ts'
import type { Engine } from './engine.ts'

/** An image to check: the path and options of a request that gets 200, and what its directory must not have. */
export type Checked = { image: string; base: string; path: string; request: RequestInit; absent: string[] }

/** Runs a container of an image, as the pages say, and checks what they promise. */
export async function checkContainer(report: Report, engine: Engine, checked: Checked): Promise<void> {
  const { image, base, path, request, absent } = checked
  const container = `${image}-${process.pid}`
  const text = (...args: string[]) => engine.run(args).then((printed) => printed.trim())
  const inspect = (what: string) => text('inspect', '--format', what, container)
  const hardened = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges', '--tmpfs=/data:mode=1777']
  const options = ['--publish=127.0.0.1::3000', '--stop-timeout=40', `--env=ACCESS_TOKENS=${token}`, ...hardened]
  const sizeOf = async (name: string) => Number(await text('image', 'inspect', '--format={{.Size}}', name))
  const bytes = (await sizeOf(image)) - (await sizeOf(base))
  report.figure('MB of the image without its base', (bytes / 1e6).toFixed(1))
  const refused = await text('run', '--rm', image).catch(({ message }: Error) => message)
  report.notZero('refusals to start without tokens', Number(/exit 1: .*ACCESS_TOKENS is not set/s.test(refused)))
  await text('run', '--detach', '--name', container, ...options, image)
  try {
    const [, port] = /:(\d+)$/m.exec(await text('port', container, '3000')) ?? []
    const statusWith = async (headers: Record<string, string>) => {
      const all = { ...request.headers, ...headers, connection: 'close' }
      return await fetch(`http://127.0.0.1:${port}${path}`, { ...request, headers: all }).then(
        ({ status }) => status,
        () => 0,
      )
    }
    const begin = performance.now()
    const authorization = `Bearer ${token}`
    await until(
      async () => (await statusWith({ authorization })) === 200,
      () => `200 of ${image}`,
      60_000,
    )
    report.figure('ms until the first 200', Math.round(performance.now() - begin))
    report.notZero('401 without a token', Number((await statusWith({})) === 401))
    await until(isHealthy, () => `health of ${image}`, 60_000)
    report.notZero('user id', Number(await text('exec', container, 'id', '-u')))
    const docs = "fetch('http://127.0.0.1:3001/docs').then(({ status }) => console.log(status))"
    report.notZero('200 of the documentation', Number((await text('exec', container, 'node', '-e', docs)) === '200'))
    const files = (await text('exec', container, 'sh', '-c', 'ls -a . node_modules 2>/dev/null || true')).split('\n')
    for (const name of absent) report.zero(`${name} in the image`, Number(files.includes(name)))
    const stopping = performance.now()
    await text('stop', container)
    report.atMost('seconds from SIGTERM to the end', Math.round((performance.now() - stopping) / 1000), 20)
    report.zero('exit code', Number(await inspect('{{.State.ExitCode}}')))
  } finally {
    await text('rm', '--force', container)
  }

  async function isHealthy(): Promise<boolean> {
    // Without systemd, Podman does not run the check by itself.
    if (engine.name === 'podman') await text('healthcheck', 'run', container).catch(() => sleep(500))
    return (await inspect('{{.State.Health.Status}}')) === 'healthy'
  }
}
