import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { assertKnownVariables, numberOf } from './documented-configuration.ts'
import { runTool } from './run-tool.ts'

const path = 'deploy/plant-store.service'
const text = readFileSync(path, 'utf8')
const all = (key: string) => Array.from(text.matchAll(RegExp(`^${key}=(.*)$`, 'gm')), ([, value = '']) => value)
const only = (key: string) => Number(all(key)[0])

/** The first version of systemd-analyze that checks a file without a running manager. */
const wanted = 250
const found = Number(/^systemd (\d+)/.exec((await runTool('systemd-analyze', '--version'))?.output ?? '')?.[1] ?? 0)
const skip = found >= wanted ? false : `NOT RUN: systemd-analyze of systemd ${wanted} or newer is not installed`

t.test('the service is configured as documented', async (t) => {
  const variables = all('Environment').flatMap((line) =>
    line.split(' ').map((pair) => pair.split('=') as [string, string]),
  )
  assertKnownVariables(
    t,
    variables.map(([name]) => name),
  )
  for (const name of ['STORE_URL', 'TOKENS_FILE']) {
    const [, value = ''] = variables.find(([given]) => given === name) ?? []
    t.match(value, `%S/${all('StateDirectory')[0]}/`, `${name} is in the writable state directory`)
  }
  t.ok(only('TimeoutStopSec') * 1_000 > numberOf('DRAIN_DEADLINE'), 'the stop timeout exceeds the drain deadline')
  t.ok(only('LimitNOFILE') > numberOf('CONNECTIONS_LIMIT'), 'file descriptors suffice for all connections')
  t.same(all('MemoryDenyWriteExecute'), ['no'], "V8's JIT compiler can work")
})

t.test('systemd-analyze security rates the unit as safe', { skip }, async (t) => {
  const run = await runTool('systemd-analyze', 'security', '--offline=true', '--threshold=20', '--no-pager', path)
  t.equal(run?.code, 0)
  const exposure = Number(/exposure level for plant-store\.service: ([\d.]+)/.exec(run?.output ?? '')?.[1])
  t.comment(`exposure ${exposure}`)
  t.ok(exposure <= 2)
})

t.test('systemd-analyze accepts the unit', { skip }, async (t) => {
  // The program of ExecStart is not installed on this machine.
  const copy = join(t.testdir({}), 'plant-store.service')
  writeFileSync(copy, text.replace(/^ExecStart=.*$/m, `ExecStart=${process.execPath}`))
  t.same(await runTool('systemd-analyze', 'verify', '--man=no', copy), { code: 0, output: '' })
})
