import { join } from 'node:path'
import t from 'tap'
import { plantsHelp } from '../../src/cli/plants.ts'
import { countAll } from '../../src/cli/plants-read.ts'
import { requireSqlite } from '../support/better-sqlite.ts'
import { exactly, usageError } from '../support/exact-pattern.ts'
import { runPlants } from './run-plants.ts'
import { makeStore } from './sqlite-files.ts'

requireSqlite(t)

const [least, greatest] = [-(2n ** 63n), 2n ** 63n - 1n]
const range = `an integer from ${least} to ${greatest}`

t.test('help is printed for the command and its subcommands', async (t) => {
  const printed = { code: 0, stdout: plantsHelp, stderr: '' }
  for (const words of [['--help'], ['-h'], ['list', '--help'], ['import', 'FILE', '-h']]) {
    t.same(await runPlants('memory:', words), printed)
  }
})

t.test('wrong arguments are rejected before the store is opened', async (t) => {
  const refusals: [string[], string][] = [
    [[], 'plants: unknown command, allowed: list, get, count, export, import'],
    [['toString'], 'plants: unknown command, allowed: list, get, count, export, import'],
    [['get'], `ID is missing, allowed: ${range}`],
    [['get', '1.0'], `ID is invalid, allowed: ${range}`],
    [['get', `${greatest + 1n}`], `ID is invalid, allowed: ${range}`],
    [['list', '--from', `${least - 1n}`], `--from is invalid, allowed: ${range}`],
    [['list', '--limit', '0'], '--limit is invalid, allowed: an integer of at least 1'],
    [['count', 'all'], 'Unexpected argument, allowed: --help'],
    [['export', 'a', 'b'], 'More than one argument, allowed: FILE, --help'],
  ]
  for (const [words, message] of refusals) await t.rejects(runPlants('memory:', words), usageError(message))
  await t.rejects(runPlants('nothing', ['count']), /^STORE_URL is "nothing", allowed: memory:/)
})

t.test('a store that only its service can open is rejected', async (t) => {
  for (const url of ['memory:', 'module:./my-store.js']) {
    const message = exactly(
      `STORE_URL is "${url}": the commands cannot open this kind of store, allowed: sqlite:PATH or postgres://…`,
    )
    for (const words of [['count'], ['export'], ['import']]) await t.rejects(runPlants(url, words), { message })
  }
})

t.test('a file without plants is rejected', async (t) => {
  const directory = t.testdir({ 'text.db': 'x'.repeat(4_096), 'empty.db': '' })
  const refusals = {
    'none.db': 'it does not exist',
    'text.db': 'file is not a database',
    'empty.db': 'it has no table of plants',
  }
  for (const [name, reason] of Object.entries(refusals)) {
    const url = `sqlite:${join(directory, name)}`
    await t.rejects(runPlants(url, ['count']), { message: exactly(`STORE_URL is "${url}": ${reason}`) })
  }
})

t.test('plants are listed from an id on, found by their id, and counted', async (t) => {
  const path = join(t.testdir({}), 'plants.db')
  const url = `sqlite:${path}`
  makeStore(path, greatest, 12n, -12n, least, 9_007_199_254_740_993n)
  const lines = [least, -12n, 12n, 9_007_199_254_740_993n, greatest].map((id) => `{"id":${id},"name":"a"}\n`)
  const printed = (stdout: string, stderr = '', code = 0) => ({ code, stdout, stderr })
  const all = lines.join('')
  t.same(await runPlants(url, ['list']), printed(all))
  t.same(await runPlants(url, ['list', '--limit', '5']), printed(all), 'no hint when there are no more plants')
  t.same(
    await runPlants(url, ['list', '--from', '-12', '--limit', '2']),
    printed(`${lines[1]}${lines[2]}`, 'more plants follow; continue with --from 13\n'),
  )
  t.same(await runPlants(url, ['list', '--from=13']), printed(`${lines[3]}${lines[4]}`))
  t.same(await runPlants(url, ['get', '-12']), printed(lines[1] as string))
  t.same(await runPlants(url, ['get', `${greatest}`]), printed(lines[4] as string))
  t.same(await runPlants(url, ['get', '13']), printed('', 'no plant has the id 13\n', 3))
  t.same(await runPlants(url, ['count']), printed('5\n'))
})

t.test('a count ends at the largest id', async (t) => {
  const count = async (from: bigint, limit: number) => {
    if (from > greatest) throw new Error('there is no such id')
    return { count: limit, last: greatest }
  }
  t.equal(await countAll({ count }, new AbortController().signal), 100_000)
})

t.test('plants over several pages are all listed and counted', async (t) => {
  const path = join(t.testdir({}), 'plants.db')
  const count = 100_001
  makeStore(path, ...Array.from({ length: count }, (_, id) => BigInt(id)))
  t.same(await runPlants(`sqlite:${path}`, ['count']), { code: 0, stdout: `${count}\n`, stderr: '' })
  const { stdout } = await runPlants(`sqlite:${path}`, ['list', '--limit', '2500'])
  t.equal(stdout, Array.from({ length: 2_500 }, (_, id) => `{"id":${id},"name":"a"}\n`).join(''))
  const interrupt = AbortSignal.abort()
  const interrupted = { code: 130, stdout: '', stderr: 'plant-store: interrupted\n' }
  for (const name of ['list', 'count']) t.same(await runPlants(`sqlite:${path}`, [name], { interrupt }), interrupted)
})
