import { mkdtempSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { conformance } from '../../src/store/conformance.ts'
import { openStore } from '../../src/store/open.ts'
import { runExample } from './run-example.ts'

t.test('file-store.js keeps the plants of a service in a file', async (t) => runExample(t, 'file-store.js'))

const directory = mkdtempSync(join(tmpdir(), 'plant-store-'))
t.teardown(() => rmSync(directory, { recursive: true }))
const url = (file: string) => `module:${resolve('examples/file-store.js')}?${join(directory, file)}`

for (const [name, run] of Object.entries(conformance))
  t.test(`file-store.js passes the conformance suite: ${name}`, () =>
    run(() => openStore(url(name.replaceAll(/\W/g, '-'))), true),
  )

t.test('file-store.js ignores an incomplete last line, which a crash leaves', async (t) => {
  const { open } = await import(pathToFileURL('examples/file-store.js').href)
  const path = join(directory, 'incomplete')
  const store = await open(url('incomplete'))
  await store.create({ id: 1n, name: 'a' })
  await store.create({ id: 2n, name: 'é' })
  await store.close()
  truncateSync(path, '{"id":"1","name":"a"}\n{"id":"2'.length)
  const again = await open(url('incomplete'))
  t.teardown(() => again.close())
  t.equal(await again.create({ id: 1n, name: 'a' }), 'identical')
  t.equal(await again.create({ id: 2n, name: 'b' }), 'created')
})
