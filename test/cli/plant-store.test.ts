import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { run } from '../support/process.ts'
import { token } from '../support/service.ts'

const plantStore = (t: Test, args: string[], environment = {}) => run(t, 'src/cli/plant-store.ts', environment, args)

t.test('serve is the server', async (t) => {
  const { child, find, ended } = plantStore(t, ['serve'], { ACCESS_TOKENS: token })
  const [, url] = await find('stderr', /^plant-store \S+ on (\S+), store memory:/)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(`${url}/plants`, { method: 'POST', headers, body: '{"id":1,"name":"a"}' })
  t.equal(answer.status, 200)
  child.kill('SIGTERM')
  t.match(await ended, { code: 0, signal: null })

  const refused = await plantStore(t, ['serve'], { ACCESS_TOKENS: token, PORT: 'x' }).ended
  t.match(refused, { code: 1, stdout: '', stderr: /^plant-store: PORT is "x", / })
})

t.test('help and version', async (t) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const answers: [string[], RegExp][] = [
    [['--help'], /^plant-store serve .*\n(.*\n)*plant-store --version\n$/],
    [['-h'], /^plant-store serve /],
    [['serve', '--help'], /^plant-store serve\n(.*\n)*TOKENS_FILE .*\n(.*\n)*The README has them all\.\n$/],
    [['token', '--help'], /^plant-store token create /],
    [['--version'], new RegExp(`^${version}\n$`)],
  ]
  for (const [args, stdout] of answers) t.match(await plantStore(t, args).ended, { code: 0, stdout, stderr: '' })
})

t.test('what is written wrong is told in one line, with exit code 2', async (t) => {
  const command = 'there is no such command, allowed: serve, token, --help, --version'
  const refusals: [string[], string][] = [
    [[], command],
    [['sevre'], command],
    [['serve', '--port', '80'], "Unknown option '--port', allowed: --help"],
    [['serve', 'plants'], 'A word without an option, allowed: --help'],
  ]
  for (const [args, message] of refusals) {
    const { code, stdout, stderr } = await plantStore(t, args).ended
    t.same([code, stdout, stderr], [2, '', `plant-store: ${message}\n`])
  }
})
