import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from 'fastify-contract-test-support/free-port'
import t from 'tap'
import { packages, writePackages } from '../../scripts/build/packages.ts'
import { landingPage } from '../../scripts/site/site-pages.ts'
import { commandsIn } from '../examples/example-commands.ts'
import { runCommands } from '../examples/run-example.ts'

const execute = promisify(execFile)

t.test('the recording of the landing page is what its commands print', { timeout: 300_000 }, async (t) => {
  // Outside of the repository, so that Node does not find its packages.
  const directory = mkdtempSync(join(tmpdir(), 'recording-'))
  t.teardown(() => rmSync(directory, { recursive: true, maxRetries: 10 }))
  writeFileSync(join(directory, 'package.json'), '{}')
  copyFileSync('scripts/site/orders.yaml', join(directory, 'openapi.yaml'))
  await writePackages(directory)
  for (const name of packages) {
    await execute('npm', ['pack', '--silent', '--pack-destination', directory], { cwd: join(directory, name) })
  }
  const archives = packages.map((name) => `./${name}-0.1.0.tgz`)
  await execute('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...archives], { cwd: directory })

  const [, recording = ''] = /^```console\n(.*?)^```$/ms.exec(readFileSync(landingPage, 'utf8')) ?? []
  const port = String(await freePort())
  const commands = commandsIn(recording.replaceAll('3000', port).split('\n')).map((each) => ({
    ...each,
    // The compiler is expected to fail.
    command: each.command.replace(/npx tsc$/, '{ npx tsc || true; }'),
  }))
  await runCommands(t, commands, directory, { PORT: port, MANAGEMENT_PORT: '0' })
})
