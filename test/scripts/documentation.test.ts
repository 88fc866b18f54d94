import t from 'tap'
import { documentationProblems, readmeProblems } from '../../scripts/lint/documentation.ts'

t.test('a README has at most 150 lines', async (t) => {
  t.same(readmeProblems('a\n'.repeat(150)), [])
  t.same(readmeProblems('a\n'.repeat(151)), ['README.md has 151 lines, at most 150 are allowed; move details to docs/'])
})

const right = '/** Returns a plant. */\nexport const f = () => 1\n'

t.test('the pages and the modules of src, scripts and packages are checked', async (t) => {
  const module = { 'a.ts': right, 'a.d.ts': 'export function f(): void' }
  const root = t.testdir({
    'README.md': '[a](docs/a.md#a)\n',
    docs: { 'a.md': '# A\n[readme](../README.md)\n', 'a.txt': '[a](missing)' },
    src: { ...module, deep: module },
    scripts: { ...module, deep: { 'a.ts': right } },
    packages: {
      a: {
        'README.md': '[readme](../../README.md)\n',
        src: { 'a.ts': right },
        test: { 'a.ts': 'export function f() {}' },
      },
    },
    test: { 'a.ts': 'export function f() {}' },
  })
  t.same(documentationProblems(root), [])
})

t.test('each kind of problem is reported in each folder', async (t) => {
  const wrong = 'export const f = () => 1\n'
  const root = t.testdir({
    'README.md': '[a](a)\n'.repeat(151),
    deploy: { 'a.md': '[a](a)\n' },
    examples: { 'a.md': '[a](a)\n' },
    src: { deep: { 'a.ts': wrong } },
    scripts: { 'a.js': wrong },
    packages: { a: { 'README.md': '[a](a)\n', src: { deep: { 'a.ts': wrong } } } },
  })
  const places = documentationProblems(root).map((problem) => problem.replace(/^(\S+).*/, '$1'))
  t.same(
    [...new Set(places)],
    [
      'README.md',
      'README.md:',
      'deploy/a.md:',
      'examples/a.md:',
      'packages/a/README.md:',
      'src/deep/a.ts:1:',
      'scripts/a.js:1:',
      'packages/a/src/deep/a.ts:1:',
    ],
  )
})
