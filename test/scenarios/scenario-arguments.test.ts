import t from 'tap'
import { run } from '../support/process.ts'
import { parseArguments } from './scenario-arguments.ts'

const scenarios = ['kill', 'fsync']
const defaults = { rounds: 200, store: undefined as string | undefined }
const parse = (...args: string[]) => parseArguments(args, scenarios, defaults)

t.test('names and options are parsed, with defaults', async (t) => {
  t.same(parse(), { names: scenarios, options: defaults })
  t.same(parse('fsync', '--rounds=3', '--store=memory:'), {
    names: ['fsync'],
    options: { rounds: 3, store: 'memory:' },
  })
})

t.test('a wrong argument is refused with what is allowed', async (t) => {
  t.throws(() => parse('fsync', 'toString'), { message: /^unknown scenario toString; use kill, fsync$/ })
  for (const value of ['0', '1.5', 'x', ''])
    t.throws(() => parse(`--rounds=${value}`), {
      message: new RegExp(`^--rounds: invalid value "${value}"; use an integer from 1$`),
    })
  t.throws(() => parse('--round=3'), { message: /^Unknown option '--round'/ })
})

t.test('a runner exits with 1 after a wrong name', async (t) => {
  for (const [runner, names] of [
    ['test/faults/fault-scenarios.ts', /^unknown scenario none; use kill, power-loss, .*\n$/],
    ['test/edge/edge-scenarios.ts', /^unknown scenario none; use rolling, proxies, slow, .*\n$/],
  ] as const) {
    t.match(await run(t, runner, {}, ['none']).ended, { code: 1, stdout: /^$/, stderr: names })
  }
})
