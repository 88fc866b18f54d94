import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import t, { type Test } from 'tap'
import { curlCommand } from '../../../src/contract-test/reports/curl-command.ts'
import type { ShownRequest } from '../../../src/contract-test/results.ts'
import { hostile, request } from './sample-result.ts'

const server = 'http://127.0.0.1:3000'

/** Runs a command in a shell whose curl records its arguments and its input. */
function recorded(t: Test, command: string, shell = 'sh'): { args: string[]; input: Buffer } {
  const cwd = t.testdir({})
  const curl = join(cwd, 'curl')
  writeFileSync(
    curl,
    `#!/bin/sh\nprintf '%s\\0' "$@" > args\ncase " $* " in *' @- '*|*' @-') cat > input ;; *) : > input ;; esac\n`,
  )
  chmodSync(curl, 0o755)
  execFileSync('bash', ['-n', '-c', command])
  const path = `${cwd}${delimiter}${process.env.PATH}`
  execFileSync(shell, ['-c', command], { cwd, env: { PATH: path, CONTRACT_TEST_CREDENTIALS: 'a secret' } })
  t.notOk(existsSync(join(cwd, 'pwned')), 'text of a document is no command')
  const args = readFileSync(join(cwd, 'args'), 'latin1').split('\0').slice(0, -1)
  return { args, input: readFileSync(join(cwd, 'input')) }
}

const shown = (more: Partial<ShownRequest> = {}) => curlCommand(request(more), server) as string

t.test('a command sends the request with credentials of a variable', async (t) => {
  const command = shown()
  t.equal(
    command,
    [
      `curl -i -g --path-as-is -X 'POST' 'http://127.0.0.1:3000/pets?key='"$CONTRACT_TEST_CREDENTIALS"'&a[]=1'`,
      `-H 'authorization: Bearer '"$CONTRACT_TEST_CREDENTIALS"`,
      "-H 'content-type: application/json'",
      `--data-raw '{"name":"it'\\''s"}'`,
    ].join(' \\\n  '),
  )
  t.same(recorded(t, command).args, [
    '-i',
    '-g',
    '--path-as-is',
    '-X',
    'POST',
    'http://127.0.0.1:3000/pets?key=a secret&a[]=1',
    '-H',
    'authorization: Bearer a secret',
    '-H',
    'content-type: application/json',
    '--data-raw',
    '{"name":"it\'s"}',
  ])
})

t.test('the word CREDENTIALS is a variable only where credentials are', async (t) => {
  const headers: [string, string][] = [
    ['x-note', 'see CREDENTIALS there'],
    ['x-key', 'CREDENTIALS'],
    ['cookie', 'session=CREDENTIALS; b=1'],
  ]
  const { args } = recorded(t, shown({ target: '/CREDENTIALS?a=CREDENTIALS1', headers, body: undefined }))
  t.same(args.slice(5), [
    'http://127.0.0.1:3000/CREDENTIALS?a=CREDENTIALS1',
    '-H',
    'x-note: see CREDENTIALS there',
    '-H',
    'x-key: a secret',
    '-H',
    'cookie: session=a secret; b=1',
  ])
})

t.test('a command without a body has the method that curl needs', async (t) => {
  const verb = (method: string) => /--path-as-is (.*?)'http/.exec(shown({ method, body: undefined }))?.[1]
  t.same(['GET', 'HEAD', 'DELETE', "A'B"].map(verb), ['', '--head ', "-X 'DELETE' ", "-X 'A'\\''B' "])
})

t.test('each body arrives byte by byte, in printable characters', async (t) => {
  for (const shell of ['sh', 'bash'])
    for (const body of [
      Buffer.from(hostile),
      Buffer.from('-n %s\\'),
      Buffer.from('two\nlines\n'),
      Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
      Buffer.from('\ufeffx'),
      Buffer.alloc(0),
      Buffer.from('@/etc/passwd'),
      Buffer.from('prix: 5 €'),
    ]) {
      const command = shown({ body })
      t.notMatch(command, /[^\P{C}\n]/u)
      const { args, input } = recorded(t, command, shell)
      const inline = args.at(-2) === '--data-raw' ? Buffer.from(args.at(-1) as string, 'latin1') : undefined
      t.same(inline ?? input, body, `${shell}: ${JSON.stringify(body.toString())}`)
    }
})

t.test('a body without a media type, an empty header and a byte of a header arrive', async (t) => {
  const headers: [string, string][] = [
    ['x-empty', ''],
    ['x-byte', 'caf\xe9 `id` $(id)'],
    ['content-length', '3'],
    ['@/etc/passwd', 'x'],
  ]
  const { args } = recorded(t, shown({ headers }))
  t.same(args.slice(6, -2), ['-H', 'x-empty;', '-H', 'x-byte: caf\xe9 `id` $(id)', '-H', 'content-type:'])
})

t.test('a body of more than 8,192 bytes has no command', async (t) => {
  t.type(curlCommand(request({ body: Buffer.alloc(8_192, 'a') }), server), 'string')
  t.equal(curlCommand(request({ body: Buffer.alloc(8_193, 'a') }), server), undefined)
})
