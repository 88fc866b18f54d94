import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { numberOf } from './documented-configuration.ts'
import { runTool } from './run-tool.ts'

const [nginx, haproxy] = ['deploy/nginx.conf', 'deploy/haproxy.cfg']
const found = (path: string, pattern: RegExp) => Number(pattern.exec(readFileSync(path, 'utf8'))?.[1])

t.test('proxy timeouts exceed HANDLER_TIMEOUT, and health checks notice a drain in time', async (t) => {
  for (const [path, pattern] of [
    [nginx, /^ *proxy_read_timeout (\d+)s;$/m],
    [haproxy, /^ *timeout server (\d+)s$/m],
  ] as const) {
    t.ok(found(path, pattern) * 1_000 > numberOf('HANDLER_TIMEOUT'), path)
  }
  const untilSeen = found(haproxy, / inter (\d+)ms /) * found(haproxy, / fall (\d+) /)
  t.ok(2 * untilSeen <= numberOf('DRAIN_TIME'))
})

const has = async (tool: string) => (await runTool(tool, '-v'))?.code === 0
const skip = async (tool: string) => ((await has(tool)) ? false : `NOT RUN: there is no ${tool}`)

t.test('nginx accepts its configuration', { skip: await skip('nginx') }, async (t) => {
  const directory = t.testdir({})
  mkdirSync(join(directory, 'logs'))
  const path = join(directory, 'whole.conf')
  writeFileSync(path, `pid ${directory}/pid; events {} http { include ${resolve(nginx)}; }\n`)
  const run = await runTool('nginx', '-t', '-q', '-e', join(directory, 'log'), '-p', directory, '-c', path)
  t.same(run, { code: 0, output: '' })
})

t.test('HAProxy accepts its configuration', { skip: await skip('haproxy') }, async (t) => {
  const run = await runTool('haproxy', '-c', '-q', '-f', haproxy)
  t.equal(run?.code, 0, String(run?.output))
})
