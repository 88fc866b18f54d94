import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from 'fastify-contract-test-support/free-port'
import t from 'tap'
import { landingPage } from '../../scripts/site/site-pages.ts'
import { commandsIn } from '../examples/example-commands.ts'
import { runCommands } from '../examples/run-example.ts'
import { copyProject } from '../support/project-copy.ts'

t.test('the recording of the landing page is what its commands print', { timeout: 600_000 }, async (t) => {
  const directory = copyProject(t)
  copyFileSync('scripts/site/orders.yaml', join(directory, 'openapi.yaml'))
  // Outside of the repository, so that Node does not find its packages.
  const parent = mkdtempSync(join(tmpdir(), 'recording-'))
  t.teardown(() => rmSync(parent, { recursive: true, maxRetries: 10 }))
  const port = String(await freePort())
  const [, recording = ''] = /^```console\n(.*?)^```$/ms.exec(readFileSync(landingPage, 'utf8')) ?? []
  const lines = recording.replaceAll('3000', port).replaceAll('../orders', join(parent, 'orders')).split('\n')
  const commands = commandsIn(lines).map((each) => ({
    ...each,
    // The compiler is expected to fail.
    command: each.command.replace(/npx tsc$/, '{ npx tsc || true; }'),
  }))
  await runCommands(t, commands, directory, { PORT: port, MANAGEMENT_PORT: '0' })
})
