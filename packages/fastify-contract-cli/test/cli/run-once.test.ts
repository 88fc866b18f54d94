import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { flagsFor } from '../../src/cli/run-once.ts'
import { ownPath } from '../support/own-path.ts'

const tsx = import.meta.resolve('tsx')
const module = pathToFileURL(resolve(ownPath('src/cli/run-once.ts'))).href

/** Prints whether V8 has optimized a function that was called 20,000 times. */
const program = (command: string) => `
import { setFlagsFromString } from 'node:v8'
import { flagsFor, keepYoungGeneration } from '${module}'
for (const flag of flagsFor('${command}', process.versions.node)) setFlagsFromString(flag)
keepYoungGeneration(process.versions.node)
const work = new Function('x', 'return x * 3 + 1')
for (let i = 0; i < 20_000; i++) work(i)
process.stdout.write(String(new Function('f', 'return % ActiveTierIsTurbofan(f)')(work)))`

t.test('V8 knows the flags, and optimizes less in a command that ends', async (t) => {
  // V8 optimizes in this thread, and not the loop in place of the function that it calls.
  const flags = ['--allow-natives-syntax', '--no-concurrent-recompilation', '--no-use-osr']
  const options = [...flags, '--import', tsx, '--input-type=module']
  const run = (command: string) => promisify(execFile)(process.execPath, [...options, '--eval', program(command)])
  const [generate, dev] = await Promise.all([run('generate'), run('dev')])
  t.same(generate, { stdout: 'false', stderr: '' })
  t.same(dev, { stdout: 'true', stderr: '' })
})

t.test('a command that runs until it is stopped, and an unknown release line, get no flags', async (t) => {
  for (const command of ['dev', 'mock']) t.same(flagsFor(command, '24.3.0'), [])
  for (const command of ['init', 'lint', 'generate', 'changes', 'docs', 'typecheck'])
    t.match(flagsFor(command, '24.3.0'), ['--invocation-count-for-turbofan=30000', '--heap-growing-percent=50'])
  for (const version of ['21.0.0', '23.0.0', '28.0.0']) t.same(flagsFor('generate', version), [])
})
