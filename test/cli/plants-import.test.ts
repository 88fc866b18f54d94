import { execFileSync } from 'node:child_process'
import { createReadStream, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { until } from '../../scripts/system/poll.ts'
import { openStore } from '../../src/store/open.ts'
import { requireSqlite } from '../support/better-sqlite.ts'
import { run } from '../support/child-process.ts'
import { exactly, usageError } from '../support/exact-pattern.ts'
import { runPlants } from './run-plants.ts'
import { idsIn, makeStore } from './sqlite-files.ts'

requireSqlite(t)

const lineOf = (id: number | bigint, name = 'a') => `{"id":${id},"name":"${name}"}\n`

t.test('an import reports new, identical, conflicting and invalid lines, and can be repeated', async (t) => {
  const directory = t.testdir({})
  const path = join(directory, 'plants.db')
  makeStore(path, 1n, 2n)
  const file = join(directory, 'plants.jsonl')
  const lines = [
    lineOf(1),
    lineOf(2, 'b'),
    '\n',
    ' \t\r\n',
    '{"id":3}\n',
    lineOf(-(2n ** 63n)),
    lineOf(5, 'x'.repeat(99)),
    lineOf(6).trim(),
  ]
  writeFileSync(file, lines.join(''))
  const wrong = "line 5: plant must have required property 'name'\nline 7: more than 99 bytes\n"
  const rest = `in conflict: 1, invalid lines: 2\nids in conflict: 2\n${wrong}`
  const environment = { BODY_LIMIT: '99' }
  const url = `sqlite:${path}`
  const first = await runPlants(url, ['import', file], { environment })
  t.same(first, { code: 3, stdout: `new: 2, identical: 1, ${rest}`, stderr: '' })
  const again = await runPlants(url, ['import'], { environment, stdin: createReadStream(file) })
  t.same(again, { code: 3, stdout: `new: 0, identical: 3, ${rest}`, stderr: '' })
  t.same(idsIn(path), [-(2 ** 63), 1, 2, 6])
})

t.test('an export can be imported into a new file, with a progress bar on a terminal', async (t) => {
  const directory = t.testdir({})
  const [from, to] = [join(directory, 'from.db'), join(directory, 'deep', 'to.db')]
  makeStore(from, ...Array.from({ length: 3_500 }, (_, id) => BigInt(id) ** 5n - 9_000_000_000n))
  const file = join(directory, 'plants.jsonl')
  await runPlants(`sqlite:${from}`, ['export', file])
  const { code, stdout, stderr } = await runPlants(`sqlite:${to}`, ['import', file], { isTTY: true })
  t.same([code, stdout], [0, 'new: 3500, identical: 0, in conflict: 0, invalid lines: 0\n'])
  const looks = stderr.split('\r\x1b[K')
  t.match(looks[1], /^\[#{24}\] 100 %, 1,000 plants, [\d,]+\/s, 0 s left$/)
  t.equal(looks.at(-1), '')
  const exported = await runPlants(`sqlite:${to}`, ['export'])
  t.equal(exported.stdout, (await runPlants(`sqlite:${from}`, ['export'])).stdout)
})

t.test('an import from a named pipe shows a bar without a percentage', async (t) => {
  const directory = t.testdir({})
  const pipe = join(directory, 'plants.pipe')
  execFileSync('mkfifo', [pipe])
  const importing = runPlants(`sqlite:${join(directory, 'plants.db')}`, ['import', pipe], { isTTY: true })
  await writeFile(pipe, lineOf(1) + lineOf(2))
  const { code, stdout, stderr } = await importing
  t.same([code, stdout], [0, 'new: 2, identical: 0, in conflict: 0, invalid lines: 0\n'])
  t.match(stderr.split('\r\x1b[K')[1], /^2 plants, [\d,]+\/s$/)
})

t.test('an import interrupted while it waits for lines reports what it created', async (t) => {
  const path = join(t.testdir({}), 'plants.db')
  makeStore(path)
  const stdin = new PassThrough()
  const interruption = new AbortController()
  const importing = runPlants(`sqlite:${path}`, ['import'], { stdin, interrupt: interruption.signal })
  stdin.write(Array.from({ length: 1_500 }, (_, id) => lineOf(id)).join(''))
  await until(() => idsIn(path).length === 1_000, 'a batch to be created')
  interruption.abort()
  t.same(await importing, {
    code: 130,
    stdout: 'new: 1000, identical: 0, in conflict: 0, invalid lines: 0\n',
    stderr: 'plant-store: interrupted\n',
  })
})

t.test('an interrupted import starts no further batch', async (t) => {
  const path = join(t.testdir({}), 'plants.db')
  const interruption = new AbortController()
  const { code, stdout } = await runPlants(`sqlite:${path}`, ['import'], {
    stdin: Array.from({ length: 5_000 }, (_, id) => lineOf(id)).join(''),
    interrupt: interruption.signal,
    isTTY: true,
    // The first progress bar appears after the first batch.
    onStderr: () => interruption.abort(),
  })
  t.same([code, stdout], [130, 'new: 1000, identical: 0, in conflict: 0, invalid lines: 0\n'])
})

t.test('an import works beside a service and reports its plants at SIGINT', async (t) => {
  const path = join(t.testdir({}), 'plants.db')
  const url = `sqlite:${path}`
  const service = await openStore(url)
  t.teardown(() => service.close())
  await service.create({ id: 0n, name: 'of the service' })
  const { child, stop, find } = run(t, 'src/cli/main.ts', { STORE_URL: url }, ['plants', 'import'])
  child.stdin.write(Array.from({ length: 1_000 }, (_, id) => lineOf(id)).join(''))
  await until(() => idsIn(path).length === 1_000, 'the batch to be created')
  t.equal(await service.create({ id: 999n, name: 'a' }), 'identical')
  t.equal(await service.create({ id: 1_000n, name: 'a' }), 'created')
  t.match(await stop('SIGINT'), { code: 130, signal: null, stderr: 'plant-store: interrupted\n' })
  const [, summary] = await find('stdout', /^(.*\n.*\n)$/)
  t.equal(summary, 'new: 999, identical: 0, in conflict: 1, invalid lines: 0\nids in conflict: 0\n')
})

t.test('an import without a readable file is rejected', async (t) => {
  const directory = t.testdir({})
  const url = `sqlite:${join(directory, 'plants.db')}`
  const missing = 'missing FILE; expected a file, or lines on standard input'
  const stdin = Object.assign(new PassThrough(), { isTTY: true })
  await t.rejects(runPlants(url, ['import'], { stdin }), usageError(missing))
  await t.rejects(runPlants(url, ['import', join(directory, 'none')]), { message: /^ENOENT: no such file[^\n]+none'$/ })
  const message = exactly(`${directory} is a directory; name a file`)
  await t.rejects(runPlants(url, ['import', directory]), { message })
})
