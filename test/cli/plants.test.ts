import { execFileSync } from 'node:child_process'
import { createReadStream, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { readLines } from 'fastify-contract'
import { exactly, usageError } from 'fastify-contract-test-support/exact-pattern'
import { until } from 'fastify-contract-test-support/poll'
import t from 'tap'
import { testDatabase } from '../../scripts/postgres/test-database.ts'
import { formatPlantLine, plantParser } from '../../src/cli/plant-line.ts'
import { createBatch, pagesOf, plantsHelp } from '../../src/cli/plants.ts'
import { openMemory } from '../../src/store/memory.ts'
import { openForReading, openStore } from '../../src/store/open.ts'
import type { StoredPlant } from '../../src/store/plant-store.ts'
import { plantBatch } from '../../src/store/sqlite/sqlite-batch.ts'
import { openDatabase } from '../../src/store/sqlite/sqlite-database.ts'
import { runTool } from '../support/service-code.ts'
import { requireSqlite } from '../support/sqlite.ts'
import { runPlants } from './run-plants.ts'
import { idsIn, makeStore } from './sqlite-files.ts'

requireSqlite(t)

t.test('help is printed for the command and its subcommands', async (t) => {
  const printed = { code: 0, stdout: plantsHelp, stderr: '' }
  for (const words of [['--help'], ['-h'], ['export', '--help'], ['import', 'FILE', '-h']])
    t.same(await runPlants('memory:', words), printed)
  t.same(await runPlants('memory:', []), { code: 2, stdout: '', stderr: plantsHelp }, 'a missing command')
})

t.test('wrong arguments are rejected before the store is opened', async (t) => {
  await t.rejects(
    runPlants('memory:', ['list']),
    usageError("plants: unknown command 'list'; expected export or import"),
  )
  await t.rejects(
    runPlants('memory:', ['toString']),
    usageError("plants: unknown command 'toString'; expected export or import"),
  )
  await t.rejects(runPlants('memory:', ['export', 'a', 'b']), {
    name: 'UsageError',
    message: /^unexpected argument 'b'/,
  })
  await t.rejects(runPlants('nothing', ['export']), /^STORE_URL is "nothing"/)
})

t.test('a store without plants to export, or without a place for them, is rejected', async (t) => {
  for (const url of ['memory:', 'module:./my-store.js']) {
    const reason = 'only the service can read this store; expected sqlite:PATH or postgres://…'
    await t.rejects(runPlants(url, ['export']), { message: exactly(`STORE_URL is "${url}": ${reason}`) })
  }
  const message = exactly('STORE_URL is "memory:", which keeps no plants; name another store')
  await t.rejects(runPlants('memory:', ['import']), { message })
})

t.test('a file without plants is rejected', async (t) => {
  const directory = t.testdir({ 'text.db': 'x'.repeat(4_096), 'empty.db': '' })
  const refusals = {
    'none.db': 'it does not exist',
    'text.db': 'it is not a SQLite database; check the path, or restore a backup',
    'empty.db': 'it has no table of plants',
  }
  for (const [name, reason] of Object.entries(refusals)) {
    const url = `sqlite:${join(directory, name)}`
    await t.rejects(runPlants(url, ['export']), { message: exactly(`STORE_URL is "${url}": ${reason}`) })
  }
})

const ids = Array.from({ length: 2_500 }, (_, id) => BigInt(id))
const all = ids.map((id) => `{"id":${id},"name":"a"}\n`).join('')

t.test('all plants are written to a file or stdout', async (t) => {
  const directory = t.testdir({ 'plants.jsonl': 'of yesterday' })
  const path = join(directory, 'plants.db')
  const file = join(directory, 'plants.jsonl')
  makeStore(path, ...ids)
  const url = `sqlite:${path}`
  t.same(await runPlants(url, ['export']), { code: 0, stdout: all, stderr: '' })
  const exported = await runPlants(url, ['export', file])
  t.same(exported, { code: 0, stdout: `2500 plants are in ${file}\n`, stderr: '' })
  t.equal(readFileSync(file, 'utf8'), all)
  t.same(readdirSync(directory), ['plants.db', 'plants.db-lock', 'plants.jsonl'], 'no write-ahead log is left')
})

t.test('an interrupted export leaves the file unchanged', async (t) => {
  const directory = t.testdir({ 'plants.jsonl': 'of yesterday' })
  const path = join(directory, 'plants.db')
  makeStore(path, ...ids)
  const interrupted = { code: 130, stdout: '', stderr: 'plant-store: interrupted\n' }
  const args = ['export', join(directory, 'plants.jsonl')]
  t.same(await runPlants(`sqlite:${path}`, args, { interrupt: AbortSignal.abort() }), interrupted)
  t.equal(readFileSync(join(directory, 'plants.jsonl'), 'utf8'), 'of yesterday')
  t.same(readdirSync(directory), ['plants.db', 'plants.db-lock', 'plants.jsonl'])
})

t.test('a writer can reset the write-ahead log during an export', async (t) => {
  const path = join(t.testdir({}), 'plants.db')
  const { commit, checkpoint, close } = openDatabase(path)
  let next = 0n
  const write = () => {
    const name = 'x'.repeat(1_000)
    commit(plantBatch(Array.from({ length: 1_000 }, () => ({ id: next++, name }))))
    checkpoint()
  }
  write()
  const reader = await openForReading(`sqlite:${path}`)
  let read = 0
  for await (const page of pagesOf(reader, new AbortController().signal)) {
    read += page.length
    if (next < 20_000n) write()
  }
  t.equal(read, 20_000)
  t.ok(statSync(`${path}-wal`).size < 5_000_000, `${statSync(`${path}-wal`).size} bytes of 20 MB`)
  await reader.close()
  close()
})

t.test('a reader that closes its pipe ends an export silently', async (t) => {
  const path = join(t.testdir({}), 'plants.db')
  makeStore(path, ...Array.from({ length: 50_000 }, (_, id) => BigInt(id)))
  const { child, untilEnded } = runTool(t, ['plants', 'export'], { STORE_URL: `sqlite:${path}` })
  child.stdout.once('data', () => child.stdout.destroy())
  t.match(await untilEnded(), { code: 1, signal: null, stderr: '' })
})

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
  const rest = 'in conflict: 1, invalid lines: 2\n'
  const stderr = `${wrong}id 2: the store has another plant\n`
  const environment = { BODY_LIMIT: '99' }
  const url = `sqlite:${path}`
  const first = await runPlants(url, ['import', file], { environment })
  t.same(first, { code: 3, stdout: `new: 2, identical: 1, ${rest}`, stderr })
  const again = await runPlants(url, ['import'], { environment, stdin: createReadStream(file) })
  t.same(again, { code: 3, stdout: `new: 0, identical: 3, ${rest}`, stderr })
  t.same(idsIn(path), [-(2 ** 63), 1, 2, 6])
})

t.test('an export can be imported into a new file', async (t) => {
  const directory = t.testdir({})
  const [from, to] = [join(directory, 'from.db'), join(directory, 'deep', 'to.db')]
  makeStore(from, ...Array.from({ length: 3_500 }, (_, id) => BigInt(id) ** 5n - 9_000_000_000n))
  const file = join(directory, 'plants.jsonl')
  await runPlants(`sqlite:${from}`, ['export', file])
  const { code, stdout, stderr } = await runPlants(`sqlite:${to}`, ['import', file])
  t.same([code, stdout, stderr], [0, 'new: 3500, identical: 0, in conflict: 0, invalid lines: 0\n', ''])
  const exported = await runPlants(`sqlite:${to}`, ['export'])
  t.equal(exported.stdout, (await runPlants(`sqlite:${from}`, ['export'])).stdout)
})

t.test('an import reads a named pipe', async (t) => {
  const directory = t.testdir({})
  const pipe = join(directory, 'plants.pipe')
  execFileSync('mkfifo', [pipe])
  const importing = runPlants(`sqlite:${join(directory, 'plants.db')}`, ['import', pipe])
  await writeFile(pipe, lineOf(1) + lineOf(2))
  t.match(await importing, { code: 0, stdout: 'new: 2, identical: 0, in conflict: 0, invalid lines: 0\n' })
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
  const { signal } = interruption
  let begun = 0
  signal.throwIfAborted = () => {
    begun++
    if (begun === 2) interruption.abort()
    AbortSignal.prototype.throwIfAborted.call(signal)
  }
  const { code, stdout } = await runPlants(`sqlite:${path}`, ['import'], {
    stdin: Array.from({ length: 5_000 }, (_, id) => lineOf(id)).join(''),
    interrupt: signal,
  })
  t.same([code, stdout], [130, 'new: 1000, identical: 0, in conflict: 0, invalid lines: 0\n'])
})

t.test('an import needs the file for itself, and reports its plants at SIGINT', async (t) => {
  const path = join(t.testdir({}), 'plants.db')
  const url = `sqlite:${path}`
  makeStore(path)
  const { child, stop, find } = runTool(t, ['plants', 'import'], { STORE_URL: url })
  child.stdin.write(Array.from({ length: 1_000 }, (_, id) => lineOf(id)).join(''))
  await until(() => idsIn(path).length === 1_000, 'the batch to be created')
  const message = exactly(`STORE_URL is "${url}": it is in use by another process`)
  await t.rejects(runPlants(url, ['import']), { message })
  t.match(await stop('SIGINT'), { code: 130, signal: null, stderr: 'plant-store: interrupted\n' })
  const [, summary] = await find('stdout', /^(.*\n)$/)
  t.equal(summary, 'new: 1000, identical: 0, in conflict: 0, invalid lines: 0\n')
})

t.test('plants created in a failed batch are counted', async (t) => {
  const store = openMemory()
  const counts = { created: 0, identical: 0, conflict: 0, invalid: 0 }
  const create = async (plant: StoredPlant) => {
    if (plant.id === 1n) throw new Error('broken')
    await turn()
    return await store.create(plant)
  }
  const plants = [1n, 2n, 2n].map((id) => ({ id, name: 'a' }))
  const options = { limit: 1, store: { create }, counts, report() {}, interrupt: new AbortController().signal }
  await t.rejects(createBatch(plants, options), { message: /^broken$/ })
  t.same(counts, { created: 1, identical: 1, conflict: 0, invalid: 0 })
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

const parse = plantParser()
const parsed = (text: string) => parse(Buffer.from(text))

t.test('a line is parsed like a body of POST /plants', async (t) => {
  t.same(parsed('{"id":9223372036854775807,"name":"a","tag":"b"}'), { id: 2n ** 63n - 1n, name: 'a', tag: 'b' })
  t.same(parsed(' {"name":"","id":-9.007199254740993e15,"more":[1]} \r'), { id: -9_007_199_254_740_993n, name: '' })
  const refused: [string, string | RegExp][] = [
    ['{"id":1,"name":"a"', 'not JSON: unexpected end at character 18'],
    ['{"id":1,"id":1,"name":"a"}', /^not JSON: the same name twice in one object at character \d+$/],
    ['{"id":1,"name":"\\ud800"}', /^not JSON: a lone surrogate in a string/],
    ['{"id":1,"name":"\\u0000"}', /^not JSON: a NUL in a string/],
    ['{"id":9223372036854775808,"name":"a"}', 'plant/id must be an int64 integer'],
    ['{"id":1.5,"name":7}', /^plant\/name must be string; plant\/id must be/],
    ['{"id":"1","name":"a"}', /^plant\/id must be/],
    ['{"id":1}', "plant must have required property 'name'"],
    ['[]', /^plant must be object/],
  ]
  for (const [text, reason] of refused) {
    const found = parsed(text)
    if (typeof reason === 'string') t.equal(found, reason)
    else t.match(found, reason)
  }
  t.equal(parse(Buffer.from([0x22, 0xff, 0x22])), 'not JSON: it is not UTF-8')
})

t.test('a line is exact and contains no control characters', async (t) => {
  t.equal(
    formatPlantLine({ id: -(2n ** 63n), name: 'ä"', tag: '' }),
    '{"id":-9223372036854775808,"name":"ä\\"","tag":""}\n',
  )
  const name = Array.from({ length: 0xff }, (_, code) => String.fromCharCode(code + 1)).join('')
  const line = formatPlantLine({ id: 1n, name })
  const codes = Array.from(line, (character) => character.charCodeAt(0))
  t.same(
    codes.filter((code) => code < 0x20 || (code >= 0x7f && code < 0xa0)),
    [0x0a],
  )
  t.same(parsed(line), { id: 1n, name })
})

async function linesOf(chunks: string[], limit = 10): Promise<[number, string | undefined][]> {
  async function* arriving() {
    for (const chunk of chunks) yield Buffer.from(chunk)
  }
  const lines: [number, string | undefined][] = []
  for await (const group of readLines(arriving(), limit))
    for (const { number, bytes } of group) lines.push([number, bytes?.toString()])
  return lines
}

t.test('lines are numbered, wherever chunks end', async (t) => {
  const expected = [
    [1, 'a'],
    [2, ''],
    [3, 'bcd'],
    [4, 'e'],
  ]
  for (const chunks of [['a\n\nbcd\ne'], ['a', '\n', '\nb', 'c', 'd\n', 'e\n'], ['a\n\nbcd\n', '', 'e']])
    t.same(await linesOf(chunks), expected)
  t.same(await linesOf([]), [])
})

t.test('a line over the limit is skipped, and later lines are read', async (t) => {
  const long = 'x'.repeat(11)
  const expected = [
    [1, undefined],
    [2, 'x'.repeat(10)],
    [3, undefined],
  ]
  t.same(await linesOf([`${long}\n${long.slice(1)}\n${long}`]), expected)
  t.same(await linesOf(['xxxxxx', 'xxxxxx', 'xxxxxx\nxxxxxxx', 'xxx\n', long]), expected)
})

t.test('plants are imported to and exported from PostgreSQL beside a service', async (t) => {
  const url = await testDatabase(t)
  const directory = t.testdir({})
  const [from, to] = [join(directory, 'from.jsonl'), join(directory, 'to.jsonl')]
  const ids = [-(2n ** 63n), ...Array.from({ length: 3_000 }, (_, id) => BigInt(id)), 2n ** 63n - 1n]
  const lines = ids.map((id) => `{"id":${id},"name":"ä ${id}"${id % 2n === 0n ? '' : ',"tag":""'}}\n`)
  writeFileSync(from, lines.toReversed().join(''))
  const service = await openStore(url)
  await service.create({ id: 0n, name: 'ä 0' })

  const summary = 'new: 3001, identical: 1, in conflict: 0, invalid lines: 0\n'
  t.same(await runPlants(url, ['import', from]), { code: 0, stdout: summary, stderr: '' })
  t.equal((await runPlants(url, ['export'])).stdout, lines.join(''))
  t.same(await runPlants(url, ['export', to]), { code: 0, stdout: `3002 plants are in ${to}\n`, stderr: '' })
  await service.close()

  const missing = new URL(url)
  missing.port = '1'
  missing.password = 'secret'
  await t.rejects(runPlants(missing.href, ['export']), {
    message: /^STORE_URL is "postgres[^"]+:\*\*\*@[^"]+": no server can be used: [^\n]+$/,
  })
})
