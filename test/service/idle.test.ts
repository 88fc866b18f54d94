import { Agent } from 'node:http'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { until } from 'fastify-contract-test-support/poll'
import { writeTokenFile } from 'fastify-contract-test-support/token-files'
import t from 'tap'
import { builtCode } from '../support/service-code.ts'
import { type ServiceProcess, startService } from '../support/service-process.ts'
import { token } from '../support/test-app.ts'

const preload = pathToFileURL(resolve('test/support/loop-report.js')).href
const [node = '', ...args] = builtCode.command
const command = [node, '--import', preload, ...args]

/** The turns of the event loop so far, the age of the process in seconds, and its timers in milliseconds. */
type LoopReport = { turns: number; seconds: number; pending: number[] }

function loopReports({ child, output }: ServiceProcess): () => Promise<LoopReport> {
  let reports = 0
  return async function report() {
    child.kill('SIGUSR2')
    reports++
    const lines = () => Array.from(output.stderr.matchAll(/^loop (.*)$/gm), ([, line]) => line as string)
    return JSON.parse(await until(() => lines()[reports - 1], 'the report of the event loop'))
  }
}

/**
 * Turns of the event loop in a second. An idle service has 5 with a store in memory, and 6 with SQLite and a token file.
 * They also show what is no timer of JavaScript, such as the histogram of the event loop delay in Node.js.
 */
const maxTurns = 10

const services = {
  'a store in memory, without an access log': () => ({ ACCESS_LOG: 'off' }),
  'SQLite, an access log and a token file': (directory: string, tokensFile: string) => ({
    STORE_URL: `sqlite:${join(directory, 'plants.db')}`,
    TOKENS_FILE: tokensFile,
  }),
}

// The services mostly wait.
t.jobs = 2

for (const [name, environmentIn] of Object.entries(services))
  t.test(`an idle service has no timer below a second: ${name}`, { buffered: true }, async (t) => {
    const environment = environmentIn(t.testdir({}), writeTokenFile(t, ['a', token]))
    const service = await startService(t, environment, { command })
    const report = loopReports(service)
    const agent = new Agent({ keepAlive: true, maxSockets: 8 })
    t.teardown(() => agent.destroy())
    const ids = Array.from({ length: 200 }, (_, id) => id)
    const sent = ids.map((id) => service.create(JSON.stringify({ id, name: 'a' }), {}, agent))
    for (const { status } of await Promise.all(sent)) if (status !== 200) t.equal(status, 200)
    t.equal((await service.page('/metrics')).status, 200)

    let seen: LoopReport[] = []
    const isQuiet = async () => {
      const before = await report()
      // The process may do anything in this time, so a busy machine cannot make it seem less quiet.
      await sleep(3_000)
      const after = await report()
      seen = [before, after]
      const turns = (after.turns - before.turns) / (after.seconds - before.seconds)
      return turns <= maxTurns && [...before.pending, ...after.pending].every((time) => time >= 1_000)
    }
    await until(isQuiet, () => `a quiet service: ${JSON.stringify(seen)}`)
    const [before, after] = seen as [LoopReport, LoopReport]
    t.comment(JSON.stringify({ ...after, turns: after.turns - before.turns }))
    t.equal((await service.create('{"id":1,"name":"a"}', {}, agent)).status, 200, 'it still serves')
  })
