import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import t from 'tap'
import { bundle } from '../scripts/build/bundle.ts'
import { spawnService, startService } from './support/service-process.ts'

// The bundle contains all packages except @photostructure/sqlite, so it runs as if that were not installed.
const directory = mkdtempSync(join(tmpdir(), 'plant-store-without-'))
t.teardown(() => rmSync(directory, { recursive: true }))
cpSync('package.json', join(directory, 'package.json'))
await bundle(join(directory, 'dist'))
const withoutOwn = process.allowedNodeEnvironmentFlags.has('--experimental-sqlite') ? ['--no-experimental-sqlite'] : []
const commandOf = (file: string) => [process.execPath, ...withoutOwn, join(directory, 'dist', file)]
const command = commandOf('server.js')

const missing =
  'SQLite is missing, because the package @photostructure/sqlite is not installed; run Node 24.15 or later, install with ' +
  'the optional packages, or set STORE_URL to memory: or postgres://USER@HOST/DATABASE'

t.test('without SQLite the memory store works', async (t) => {
  const { create } = await startService(t, { STORE_URL: 'memory:' }, { command })
  t.equal((await create('{"id":1,"name":"a"}')).status, 200)
})

t.test('without SQLite a SQLite store fails with one line', async (t) => {
  const service = spawnService({ STORE_URL: `sqlite:${join(directory, 'plants.db')}` }, { command })
  t.teardown(() => service.signal('SIGKILL'))
  const { code, stdout, stderr } = await service.untilEnded()
  t.same([code, stdout], [1, ''])
  t.match(stderr, new RegExp(`^plant-store: STORE_URL is "sqlite:[^"]+/plants\\.db": ${missing}\n$`))
})

const plantStore = (...args: string[]) =>
  spawnProcess([...commandOf('plant-store.js'), ...args], { env: { STORE_URL: 'sqlite:package.json' }, cwd: directory })

t.test('without SQLite the SQLite commands fail with the same line', async (t) => {
  for (const args of ['backup copy.db', 'restore package.json', 'check']) {
    const { code, stdout, stderr } = await plantStore(...args.split(' ')).untilEnded()
    t.same([code, stdout], [1, ''], args)
    t.match(stderr, new RegExp(`^plant-store: (package\\.json: )?${missing}\n$`))
  }
})

const skip = spawnSync('flock', ['--help']).error === undefined ? false : 'NOT RUN: there is no program flock'

t.test('without SQLite token commands still lock each other out', { skip }, async (t) => {
  const names = ['a', 'b', 'c', 'd']
  const ends = await Promise.all(names.map((name) => plantStore('token', 'create', '--name', name).untilEnded()))
  for (const { code, stdout, stderr } of ends) {
    t.equal(code, 0, stderr)
    t.match(stdout, /^plants_[\w-]{49}\n$/)
  }
  const { tokens } = JSON.parse(readFileSync(join(directory, 'tokens.json'), 'utf8'))
  t.same(tokens.map(({ name }: { name: string }) => name).sort(), names, 'the file has the token of each command')
})
