import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { terminalSkipReason, withKeys } from './support/terminal.ts'

const command = [
  process.execPath,
  `--import=${resolve('packages/test-support/src/register-strip-types.js')}`,
  resolve('packages/fastify-contract-cli/src/cli.ts'),
  'init',
]

/** Runs `init` on a terminal in a new directory. */
function start(t: Test) {
  const directory = t.testdir({})
  const [file = '', ...args] = withKeys(command)
  const child = spawn(file, args, { cwd: directory, env: { ...process.env, TERM: 'xterm' } })
  t.teardown(() => child.kill('SIGKILL'))
  const closed = once(child, 'close')
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text))
  const shows = (text: string) =>
    until(
      () => output.includes(text),
      () => `${JSON.stringify(output)} has ${text}`,
      20_000,
    )
  return { directory, child, shows, closed, output: () => output }
}

t.test('on a terminal, init asks for the document', { skip: terminalSkipReason }, async (t) => {
  const { directory, child, shows, closed, output } = start(t)
  await shows('OpenAPI document, a path or a URL (Enter: a sample with three operations) ')
  child.stdin.write('none.yaml\r')
  await shows('There is no file "none.yaml".')
  child.stdin.write('\r')
  await shows('Directory of the project (Enter: .) ')
  child.stdin.write('books\r')
  t.same(await closed, [0, null])
  t.ok(existsSync(join(directory, 'books', 'src', 'handlers.ts')))
  t.match(readFileSync(join(directory, 'books', 'openapi.yaml'), 'utf8'), 'title: Bookshelf')
  // What takes more than a second is shown, in a line that is empty at the end.
  t.match(output().split('\r\x1b[2K').at(-1), /Wrote to \S+books: openapi\.yaml, package\.json, /)
})

t.test('the end of the input ends init, and nothing is written', { skip: terminalSkipReason }, async (t) => {
  for (const key of ['\x03', '\x04']) {
    const { directory, child, shows, closed, output } = start(t)
    await shows('(Enter: a sample with three operations) ')
    child.stdin.write(key)
    t.same(await closed, [1, null])
    t.match(output(), 'init: the input ended; nothing is written')
    t.notOk(existsSync(join(directory, 'package.json')))
  }
})
