import { spawnProcess } from 'fastify-contract-test-support/child-process'
import t from 'tap'

/** Checks the spelling of a text as the named file of the project. Resolves to the misspelled words. */
async function misspelled(name: string, text: string): Promise<string[]> {
  const options = ['--config', 'scripts/lint/cspell.yaml', '--no-progress', '--no-summary', '--words-only']
  const running = spawnProcess(['scripts/lint/node_modules/.bin/cspell', ...options, `stdin://${name}`])
  running.child.stdin?.end(text)
  const { stdout } = await running.untilEnded()
  return stdout.trim().split('\n').filter(Boolean)
}

const wrong = ['recieve', 'seperate', 'colour', 'behaviour', 'serialise', 'licence', 'occured']

const right = [
  'The serializer behaves as the license says, in any color.',
  'node:sqlite syncs its WAL by fdatasync; PostgreSQL answers SQLSTATE 40001.',
  "Use `npm run lint`, a JWKS or JWT, an int64, or 'Monstera deliciosa'.",
  'plants_9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d4bad9bdd2b0d7b3d',
  "'a\\ncontent\\tname\\u00e9\\x41bc%20name'",
  'https://example.com/qwzrtp',
]

t.test('a misspelled or British word is found in comments and in prose', async (t) => {
  const text = wrong.map((word) => `// The ${word} is here.`).join('\n')
  t.same(await misspelled('src/a.ts', text), wrong)
  t.same(await misspelled('docs/a.md', wrong.join('\n\n')), wrong)
})

t.test('terms, names and text that is not a word are accepted', async (t) => {
  t.same(await misspelled('docs/a.md', right.join('\n\n')), [])
  t.same(await misspelled('src/a.ts', right.map((line) => `// ${line}`).join('\n')), [])
})

t.test('a misspelling that one test needs is reported in other files', async (t) => {
  t.same(await misspelled('test/cli/main.test.ts', 'nmae'), [])
  t.same(await misspelled('src/a.ts', 'nmae'), ['nmae'])
})
