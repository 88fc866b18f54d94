import { setTimeout as sleep } from 'node:timers/promises'
import { until } from 'fastify-contract-test-support/poll'
import t from 'tap'
import { fetchingStep, shortened, withProgress } from '../../src/cli/progress.ts'

const clear = '\r\x1b[2K'

function terminal(columns = 80) {
  const written: string[] = []
  return { written, isTTY: true, columns, write: (text: string | Uint8Array) => written.push(String(text)) > 0 }
}

t.before(() => {
  process.env.TERM = 'xterm'
})

t.test('what takes less than a second shows nothing', async (t) => {
  const stream = terminal()
  t.equal(
    await withProgress(
      async (step) => {
        step('reading')
        return 1
      },
      stream,
      () => 0,
    ),
    1,
  )
  t.same(stream.written, [])
})

t.test('after a second each step replaces the one before, and the line is empty at the end', async (t) => {
  const stream = terminal()
  let time = 0
  const run = withProgress(
    async function failing(step) {
      step('reading')
      time = 1_000
      step('checking\nthe document')
      step('writing')
      throw new Error('it failed')
    },
    stream,
    () => time,
  )
  await t.rejects(run, { message: 'it failed' })
  t.same(stream.written, [`${clear}checking the document`, `${clear}writing`, clear])
})

t.test('a step that lasts is shown without another one', async (t) => {
  const stream = terminal()
  await withProgress(async function waiting(step) {
    step('fetching')
    await until(
      () => stream.written.length > 0,
      () => 'the step is shown',
    )
  }, stream)
  t.same(stream.written, [`${clear}fetching`, clear])
})

t.test('a pipe and a terminal without cursor movement get nothing', async (t) => {
  const slow = async (step: (text: string) => void) => {
    await sleep(1)
    step('reading')
  }
  const times = [0, 5_000]
  const clock = () => times.shift() ?? 9_000
  const pipe = { ...terminal(), isTTY: false }
  await withProgress(slow, pipe, clock)
  t.same(pipe.written, [])
  t.intercept(process, 'env', { value: { ...process.env, TERM: 'dumb' } })
  const dumb = terminal()
  await withProgress(slow, dumb, clock)
  t.same(dumb.written, [])
})

t.test('a line that is too long keeps the end of a path', async (t) => {
  t.equal(shortened('reading openapi.yaml', 40), 'reading openapi.yaml')
  t.equal(shortened('reading /home/user/projects/pets/openapi.yaml', 30).length, 30)
  t.match(shortened('reading /home/user/projects/pets/openapi.yaml', 30), /^reading ….*pets\/openapi\.yaml$/)
  t.equal(shortened('a'.repeat(50), 10), `…${'a'.repeat(9)}`)
  t.equal(shortened('reading a.yaml', 5), '…yaml')
  t.equal(shortened('reading a.yaml', 0), '')
  const stream = terminal(24)
  const times = [0]
  await withProgress(
    async (step) => fetchingStep(step)('https://example.com/spec/openapi.yaml', 2),
    stream,
    () => times.shift() ?? 2_000,
  )
  t.same(stream.written, [`${clear}fetching …/openapi.yaml`, clear])
})
