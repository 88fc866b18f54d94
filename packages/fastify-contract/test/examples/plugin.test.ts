import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compileContract } from 'fastify-contract-cli/compile'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import t from 'tap'
import { ownPath } from '../support/own-path.ts'

/** Returns the blocks of code of the pages whose first line names a file, by that name. */
function filesOf(...pages: string[]): Record<string, string> {
  const texts = pages.map((page) => readFileSync(ownPath(page), 'utf8'))
  const blocks = texts.flatMap((text) => Array.from(text.matchAll(/^```\w+\n((?:\/\/|#) (\S+)\n.*?)^```$/gms)))
  return Object.fromEntries(blocks.map(([, code = '', name = '']) => [name, code]))
}

t.test('the application of the page about the plugin passes its test, with node:test', async (t) => {
  const { 'openapi.yaml': document, 'error-body.ts': errorBody, ...others } = filesOf('README.md', 'docs/plugin.md')
  const { 'app.ts': app, 'app.test.ts': test } = others
  const directory = t.testdir({
    'package.json': '{ "type": "module" }',
    'redocly.yaml': 'rules: { struct: error }\n',
    'openapi.yaml': document as string,
    'error-body.ts': errorBody as string,
    'app.ts': app as string,
    'app.test.ts': test as string,
  })
  const at = (...names: string[]) => join(directory, ...names)
  const { files } = await compileContract(at('openapi.yaml'), { rules: at('redocly.yaml') })
  mkdirSync(at('generated'))
  for (const [name, text] of Object.entries(files)) writeFileSync(at('generated', name), text)
  // NODE_OPTIONS has the hooks of tap, which run the tests of this process only.
  const options = { cwd: directory, env: { NODE_OPTIONS: '' } }
  const { code, stdout } = await spawnProcess(
    [process.execPath, '--import=tsx', '--test', 'app.test.ts'],
    options,
  ).untilEnded(60_000)
  t.equal(code, 0, stdout)
  t.match(stdout, /pass 1\n/)
})
