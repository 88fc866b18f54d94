import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { assertKnownVariables, numberOf } from './documented-configuration.ts'
import { runTool } from './run-tool.ts'

const path = 'deploy/plant-store.service'
const text = readFileSync(path, 'utf8')
const all = (key: string) => Array.from(text.matchAll(RegExp(`^${key}=(.*)$`, 'gm')), ([, value = '']) => value)
const only = (key: string) => Number(all(key)[0])

/** The first version that judges a file without a manager. */
const wanted = 250
const found = Number(/^systemd (\d+)/.exec((await runTool('systemd-analyze', '--version'))?.output ?? '')?.[1] ?? 0)
const skip = found >= wanted ? false : `NOT RUN: there is no systemd-analyze of systemd ${wanted} or newer`

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
    t.match(value, `%S/${all('StateDirectory')[0]}/`, `${name} is where it may write`)
  }
  t.ok(only('TimeoutStopSec') * 1_000 > numberOf('DRAIN_DEADLINE'), 'it may finish what it took')
  t.ok(only('LimitNOFILE') > numberOf('CONNECTIONS_LIMIT'), 'connections are refused, not file descriptors')
  t.same(all('MemoryDenyWriteExecute'), ['no'], 'V8 can compile')
})

t.test('systemd-analyze security rates the unit as safe', { skip }, async (t) => {
  const run = await runTool('systemd-analyze', 'security', '--offline=true', '--threshold=20', '--no-pager', path)
  t.equal(run?.code, 0)
  const exposure = Number(/exposure level for plant-store\.service: ([\d.]+)/.exec(run?.output ?? '')?.[1])
  t.comment(`exposure ${exposure}`)
  t.ok(exposure <= 2)
})

t.test('systemd-analyze accepts the unit', { skip }, async (t) => {
  // What it starts is not installed here.
  const copy = join(t.testdir({}), 'plant-store.service')
  writeFileSync(copy, text.replace(/^ExecStart=.*$/m, `ExecStart=${process.execPath}`))
  t.same(await runTool('systemd-analyze', 'verify', '--man=no', copy), { code: 0, output: '' })
})
