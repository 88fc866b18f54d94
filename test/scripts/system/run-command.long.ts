import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { oldNode, run } from 'fastify-contract-test-support/child-process'
import t from 'tap'

const problem = 'Node 18.20.8 is too old; use Node 20.19.3 or newer\n'

t.test('every npm command checks the Node version first', async (t) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const first = [
    /^tsx scripts\/system\/run-command\.ts( (scripts|test|packages)\/\S+\.ts( .*)?)?$/,
    // This command checks the version itself, because it is also installed without scripts/.
    /^tsx src\/cli\/main\.ts [a-z]+$/,
    /^npm run --silent build( |$)/,
    // This command installs what checks the version.
    /^node scripts\/install\.js$/,
    // This command works with Node 18.
    /^tsc$/,
  ]
  for (const [name, command] of Object.entries<string>(scripts)) {
    const begin = scripts[`pre${name}`] ?? command
    const looks = first.some((pattern) => pattern.test(begin))
    t.ok(looks, `${name}: ${begin}`)
  }
})

t.test('on an old Node a command fails with one line', async (t) => {
  const directory = t.testdir({ 'edge.ts': "import { fromLaterNode } from 'node:zlib'\nfromLaterNode()\n" })
  const runEdge = (env: Record<string, string>) =>
    run(t, 'scripts/system/run-command.ts', { ...env, npm_lifecycle_event: 'edge' }, [join(directory, 'edge.ts')]).ended
  const { code, stdout, stderr } = await runEdge(oldNode)
  t.same([code, stdout, stderr], [1, '', `edge: ${problem}`])
  t.match((await runEdge({})).stderr, /SyntaxError: .* export named 'fromLaterNode'/)
})

t.test('a pre-script reports the name of its test command', async (t) => {
  const env = { ...oldNode, npm_lifecycle_event: 'pretest' }
  const { code, stdout, stderr } = await run(t, 'scripts/system/run-command.ts', env).ended
  t.same([code, stdout, stderr], [1, '', `test: ${problem}`])
  t.match(await run(t, 'scripts/system/run-command.ts').ended, { code: 0, stdout: /^$/, stderr: /^$/ })
})

t.test('a command receives its own arguments', async (t) => {
  const module = join(t.testdir({ 'echo.ts': 'console.log(process.argv.slice(1).join())' }), 'echo.ts')
  const { code, stdout } = await run(t, 'scripts/system/run-command.ts', {}, [module, '--a', 'b']).ended
  t.same([code, stdout], [0, `${module},--a,b\n`])
})
