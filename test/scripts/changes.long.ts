import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { contractChanges, nextVersion } from '../../packages/fastify-contract-cli/src/changes/contract-changes.ts'
import { useHouseDocument } from '../support/house-document.ts'
import { copyProject } from '../support/project-copy.ts'
import { contractEdits } from './contract-edits.ts'

t.test('every kind of change has its severity, and the most severe come first', async (t) => {
  const { released, edited, rows } = contractEdits()
  const directory = t.testdir({ 'released.json': JSON.stringify(released), 'edited.json': JSON.stringify(edited) })
  const changes = await contractChanges(join(directory, 'released.json'), join(directory, 'edited.json'), edited)
  for (const { weight, pointer, value, scope } of rows) {
    const [heaviest] = changes.filter(({ what }) => new RegExp(`#${scope}(/|:|$)`).test(what))
    t.equal(heaviest?.weight, weight, `${pointer} is ${JSON.stringify(value)}`)
  }
})

t.test('a removed error number is breaking, a new one compatible, a new meaning a text change', async (t) => {
  const { released } = contractEdits()
  const numbers = released['x-error-numbers']
  const { notJson, invalid, ...others } = numbers
  const edited = {
    ...released,
    'x-error-numbers': {
      ...others,
      invalid: { ...invalid, error: 40099 },
      internal: { ...numbers.internal, meaning: 'The service broke' },
      noSuchPlant: { error: 40401, meaning: 'There is no such plant' },
    },
  }
  const directory = t.testdir({ 'released.json': JSON.stringify(released), 'edited.json': JSON.stringify(edited) })
  const path = join(directory, 'edited.json')
  const changes = await contractChanges(join(directory, 'released.json'), path, edited)
  t.same(
    changes.map(({ weight, place, what }) => [weight, place.replace(path, ''), what]),
    [
      ['breaking', '#/x-error-numbers/notJson', 'removed 40002: Clients tell errors apart by their numbers.'],
      ['breaking', '#/x-error-numbers/invalid', 'removed 40003: Clients tell errors apart by their numbers.'],
      ['compatible', '#/x-error-numbers/noSuchPlant', 'added 40401'],
      ['text', '#/x-error-numbers/internal', 'modified the meaning of 50000'],
    ],
  )
  t.equal(notJson.error, 40002)
})

t.test("a removed error table keeps the service's numbers and is reported once", async (t) => {
  const { released } = contractEdits()
  const { 'x-error-numbers': numbers, ...others } = released
  const withOwn = { ...released, 'x-error-numbers': { ...numbers, noSuchPlant: { error: 40401, meaning: 'None' } } }
  const edited = { ...others, info: { title: released.info.title, version: released.info.version } }
  const directory = t.testdir({ 'released.json': JSON.stringify(withOwn), 'edited.json': JSON.stringify(edited) })
  const path = join(directory, 'edited.json')
  const changes = await contractChanges(join(directory, 'released.json'), path, edited as never)
  const told = changes.map(({ weight, what }) => `${weight} ${what}`)
  t.ok(told.includes('breaking removed 40401: Clients tell errors apart by their numbers.'))
  t.notOk(told.some((line) => / (40000|42900|50300):|#\/x-error-numbers/.test(line)))
  t.same([...new Set(told)], told, 'each change is reported once')
  t.ok(Object.keys(released.info).length > 3, 'the edit removes several members of info')
})

t.test('the next version number follows from the changes', async (t) => {
  t.equal(nextVersion('1.9.9', 'breaking'), '2.0.0')
  t.equal(nextVersion('1.9.9', 'compatible'), '1.10.0')
  t.equal(nextVersion('1.9.9', 'text'), '1.9.10')
})

t.test('npm run changes releases a document only when its version matches the changes', async (t) => {
  const cwd = copyProject(t)
  await useHouseDocument(cwd)
  const document = join(cwd, 'openapi', 'plant-store.yaml')
  const released = (version: string) => join(cwd, 'openapi', 'released', `${version}.json`)
  const edit = (from: string, to: string) => {
    const text = readFileSync(document, 'utf8')
    t.ok(text.includes(from), from)
    writeFileSync(document, text.replace(from, to))
  }
  const changes = (...args: string[]) =>
    promisify(execFile)(
      process.execPath,
      ['--import=tsx', 'packages/fastify-contract-cli/src/cli.ts', 'changes', ...args],
      { cwd },
    ).then(
      ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    )
  t.match(await changes(), {
    code: 1,
    stderr: /^openapi\/released holds no released document; run with --release to store the first\n$/,
  })
  t.match(await changes('--release'), { code: 0, stdout: /^wrote openapi\/released\/1.0.0.json$/m })
  t.match(await Promise.all([changes('--release'), changes('--released', 'nowhere')]), [
    { code: 1, stdout: /^no changes since 1.0.0$/m, stderr: '1.0.0 is already released; raise info.version\n' },
    { code: 1, stdout: '', stderr: /^nowhere holds no released document/ },
  ])

  edit('version: 1.0.0', 'version: 1.1.0')
  edit('any 64-bit signed integer', 'every 64-bit signed integer')
  edit('operationId: createPlant', 'operationId: addPlant')
  const { code, stderr, stdout } = await changes('--release')
  t.same({ code, stderr }, { code: 1, stderr: 'info.version is 1.1.0; raise it to 2.0.0 or higher\n' })
  t.match(stdout.split('\n'), [
    /^openapi\/plant-store.yaml:\d+:\d+ breaking: modified #\/paths\/~1plants\/post\/operationId: .*'createPlant'/,
    /^openapi\/plant-store.yaml:\d+:\d+ text: modified #\/components\/schemas\/NewPlant\/.*\/id\/description$/,
    /^since 1.0.0: 1 breaking, 0 compatible, 1 text; the next version is 2.0.0$/,
  ])
  t.notOk(existsSync(released('1.1.0')))

  edit('version: 1.1.0', 'version: 10.0.0')
  t.match(await changes('--release'), { code: 0, stdout: /^wrote openapi\/released\/10.0.0.json$/m })
  copyFileSync(released('1.0.0'), released('9.0.0'))
  t.same(await changes(), { code: 0, stdout: 'no changes since 10.0.0\n', stderr: '' })

  edit('error: 40002\n    meaning', 'error: 40099\n    meaning')
  const refused = await changes()
  t.match(refused, { code: 1, stderr: /40002 is not in x-error-numbers/ })
  t.match(refused.stdout, /breaking: removed 40002: /, 'a document that cannot be served is compared all the same')
  edit('error: 40099\n    meaning', 'error: 40002\n    meaning')

  edit('version: 10.0.0', 'version: 10.0.1-beta')
  t.match(await changes(), { code: 1, stderr: 'info.version is 10.0.1-beta; use MAJOR.MINOR.PATCH\n' })
})
