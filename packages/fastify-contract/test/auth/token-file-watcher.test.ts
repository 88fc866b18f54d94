import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { until } from 'fastify-contract-test-support/poll'
import { inSeconds, replaceTokenFile, tokenFileText, writeTokenFile } from 'fastify-contract-test-support/token-files'
import t, { type Test } from 'tap'
import { watchTokenFile } from '../../src/auth/token-verifier.ts'
import { newToken } from '../../src/auth/tokens.ts'
import { ownPath } from '../support/own-path.ts'

const [first, second, third] = ['a_', 'b_', 'c_'].map(newToken) as [string, string, string]

/** Watches a file until the test ends, and records the watcher's events in order. */
async function follow(t: Test, path: string) {
  const told: (number | string)[] = []
  const followed = await watchTokenFile(path, {
    load: (clients) => told.push(clients),
    error: ({ message }) => told.push(message),
    large: (bytes) => told.push(`large: ${bytes}`),
  })
  t.teardown(() => followed.close())
  return { ...followed, verify: (token: string) => followed.verify(token)?.name, told }
}

/** Asserts that a condition holds within the two seconds that the documentation promises. */
async function within(t: Test, isSo: () => boolean, what: string): Promise<void> {
  const end = performance.now() + 2_000
  while (!isSo() && performance.now() < end) await sleep(10)
  t.ok(isSo(), what)
}

t.test('a token of the file identifies its client unless it has expired', async (t) => {
  const entries = [
    ['a', first],
    ['a', second, inSeconds(60)],
    ['b', third, inSeconds(-60)],
    ['c', 'by-hand'],
  ] as const
  const { verify, told } = await follow(t, writeTokenFile(t, ...entries.map(([...entry]) => entry)))
  t.equal(verify(first), 'a')
  t.equal(verify(second), 'a', 'one client may have several tokens')
  t.equal(verify(third), undefined, 'an expired token')
  t.equal(verify('by-hand'), 'c', 'a token of another format')
  const wrong = ['', newToken(), `${first}x`, first.slice(0, -1), first.slice(7), first.toLowerCase()]
  for (const token of wrong) t.equal(verify(token), undefined)
  t.same(told, [2], 'clients with a token that is not expired')
})

t.test('a token expires while the file is unchanged', async (t) => {
  const expires = inSeconds(1.5)
  const { verify, told } = await follow(t, writeTokenFile(t, ['a', first, expires]))
  t.equal(verify(first), 'a')
  await until(() => verify(first) === undefined, 'the token expires', 5_000)
  t.ok(Date.now() >= Date.parse(expires), 'the token does not expire early')
  t.same(told, [1])
})

t.test('a change is noticed after looks that read nothing', async (t) => {
  const path = writeTokenFile(t, ['a', first])
  const { verify, told } = await follow(t, path)
  // The file is read again while its last change is younger than two seconds.
  await sleep(5_500)
  t.same(told, [1])
  replaceTokenFile(path, tokenFileText(['b', second]))
  await within(t, () => verify(second) === 'b', 'the new file')
})

t.test('every kind of file change is noticed', async (t) => {
  const path = writeTokenFile(t, ['a', first])
  const { verify, told } = await follow(t, path)
  replaceTokenFile(path, tokenFileText(['a', first], ['b', second]))
  await within(t, () => verify(second) === 'b', 'a new file in its place')
  t.equal(verify(first), 'a')

  const date = new Date()
  utimesSync(path, date, date)
  writeFileSync(path, tokenFileText(['a', first], ['b', third]))
  utimesSync(path, date, date)
  await within(t, () => verify(second) === undefined && verify(third) === 'b', 'another text of the same size and date')

  // Kubernetes mounts a secret as a link to a file in a linked directory, and replaces the link to the directory.
  const directory = dirname(path)
  for (const [name, token] of [
    ['one', first],
    ['two', second],
  ] as const) {
    mkdirSync(join(directory, name))
    writeFileSync(join(directory, name, 'tokens.json'), tokenFileText(['a', token]), { mode: 0o444 })
  }
  symlinkSync('one', join(directory, '..data'))
  symlinkSync('..data/tokens.json', join(directory, 'linked.json'))
  const linked = await follow(t, join(directory, 'linked.json'))
  t.equal(linked.verify(first), 'a')
  symlinkSync('two', join(directory, '..data.new'))
  renameSync(join(directory, '..data.new'), join(directory, '..data'))
  await within(t, () => linked.verify(first) === undefined && linked.verify(second) === 'a', 'a replaced link')
  // The next look must find no change.
  await sleep(1_100)
  t.same(
    [told, linked.told],
    [
      [1, 2, 2],
      [1, 1],
    ],
    'each change causes one event',
  )
})

t.test('a broken file keeps the last good tokens and is reported once', async (t) => {
  const path = writeTokenFile(t, ['a', first])
  const { verify, told, close } = await follow(t, path)
  const good = tokenFileText(['a', first])
  const isTold = (what: RegExp) => () => what.test(String(told.at(-1)))

  replaceTokenFile(path, good.slice(0, -9))
  await within(t, isTold(/^not valid JSON/), 'half a file')
  t.equal(verify(first), 'a')
  // The next polls must cause no event.
  await sleep(1_100)
  t.equal(told.length, 2)
  rmSync(path)
  await within(t, isTold(/^ENOENT/), 'no file')
  t.equal(verify(first), 'a')
  replaceTokenFile(path, good)
  await within(t, isTold(/^1$/), 'the same as before')
  replaceTokenFile(path, tokenFileText())
  await within(t, isTold(/^0$/), 'no token at all')
  t.equal(verify(first), undefined)
  t.equal(told.length, 5)

  close()
  replaceTokenFile(path, good)
  // A poll that was still scheduled would have run after this pause.
  await sleep(1_100)
  t.equal(told.length, 5, 'a closed watcher emits no event')
})

t.test('a pending read reports nothing after close', async (t) => {
  for (const text of [tokenFileText(), 'broken']) {
    const path = writeTokenFile(t, ['a', first])
    const { told, close, verify } = await follow(t, path)
    writeFileSync(path, text)
    const end = performance.now() + 120_000
    while (!process.getActiveResourcesInfo().includes('FSReqPromise')) {
      if (performance.now() > end) throw new Error('not within 120000 ms: a look at the file is under way')
      // A poll is shorter than the pause of `until`, so this loop checks at each turn of the event loop.
      await turn()
    }
    close()
    // The poll must end before the test can see that it causes no event.
    await sleep(100)
    t.same(told, [1])
    t.equal(verify(first), 'a')
  }
})

t.test('an unreadable file is read again, even with the same content', async (t) => {
  const path = writeTokenFile(t, ['a', first])
  const { told } = await follow(t, path)
  chmodSync(path, 0o622)
  await until(() => told.length === 2, 'its mode is reported', 5_000)
  chmodSync(path, 0o600)
  await until(() => told.length === 3, 'the file is valid again', 5_000)
  t.same(told, [1, 'writable by users other than its owner (mode 622); run chmod go-w on it', 1])
})

t.test('a file that was missing is loaded again, even the same one', async (t) => {
  const path = writeTokenFile(t, ['a', first])
  const { told } = await follow(t, path)
  renameSync(path, `${path}.moved`)
  await until(() => told.length === 2, 'it is missing', 5_000)
  renameSync(`${path}.moved`, path)
  await until(() => told.length === 3, 'it is back', 5_000)
  t.match(told[1], /^ENOENT/)
  t.equal(told[2], 1)
})

t.test('a file over 16 MiB is reported once until it shrinks', async (t) => {
  const path = writeTokenFile(t, ['a', first])
  const small = tokenFileText(['a', first])
  const pad = (size: number) => replaceTokenFile(path, small + ' '.repeat(size - small.length))
  pad(2 ** 24 + 1)
  const { told } = await follow(t, path)
  const large = `large: ${2 ** 24 + 1}`
  t.same(told, [large, 1])
  pad(2 ** 24 + 2)
  await until(() => told.length === 3, 'a change of a large file', 10_000)
  pad(2 ** 24)
  await until(() => told.length === 4, 'it is smaller', 10_000)
  pad(2 ** 24 + 1)
  await until(() => told.length === 6, 'it is large again', 10_000)
  t.same(told, [large, 1, 1, 1, large, 1])
})

t.test('an unusable file stops the start with one line', async (t) => {
  const path = writeTokenFile(t)
  for (const text of [first, '[]', `{"tokens":[{"name":"${third}"}]}`]) {
    writeFileSync(path, text)
    const { message } = await follow(t, path).catch((error) => error)
    t.match(message, /^(contains|wrong structure)[^\n]+$/)
    t.notMatch(message, /plants_/)
  }
  await t.rejects(follow(t, `${path}.none`), { code: 'ENOENT' })
})

t.test('without free file descriptors the last good tokens stay, and the process can exit', async (t) => {
  const path = writeTokenFile(t, ['a', first])
  const script = join(dirname(path), 'follow.mjs')
  writeFileSync(
    script,
    `import { closeSync, openSync, utimesSync } from 'node:fs'
    import { watchTokenFile } from ${JSON.stringify(resolve(ownPath('src/auth/token-verifier.ts')))}
    const taken = []
    let alive
    const { verify } = await watchTokenFile(${JSON.stringify(path)}, {
      load: (clients) => {
        console.log('load ' + clients)
        clearTimeout(alive)
      },
      error: ({ code }) => {
        console.log(code + ' ' + verify(${JSON.stringify(first)})?.name)
        for (const descriptor of taken) closeSync(descriptor)
      },
    })
    try {
      for (;;) taken.push(openSync('/dev/null'))
    } catch {
      // Without a change, the file is not read.
      utimesSync(${JSON.stringify(path)}, 0, 0)
      alive = setTimeout(() => {}, 60_000)
    }`,
  )
  const limited = ['-c', 'ulimit -n 256; exec "$@"', 'bash', process.execPath, ...process.execArgv, script]
  const { stdout } = await promisify(execFile)('bash', limited)
  t.equal(stdout, 'load 1\nEMFILE a\nload 1\n')
})
