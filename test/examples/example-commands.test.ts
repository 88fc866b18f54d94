import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { exampleCommands, outputPattern } from './example-commands.ts'

const files = readdirSync('examples').filter((name) => name !== 'README.md')

t.test('each example opens with commands and their outputs, and has a row and a test', async (t) => {
  const index = readFileSync('examples/README.md', 'utf8')
  for (const name of files) {
    const commands = exampleCommands(join('examples', name))
    t.ok(commands.some(({ output }) => output !== '') && commands.length > 3, name)
    t.ok(index.includes(`| [${name}](${name}) |`), name)
    t.ok(readFileSync(join('test/examples', name.replace(/\.\w+$/, '.long.ts')), 'utf8').includes(`'${name}'`), name)
  }
})

t.test('a command continues after a backslash, and its output ends at the next command or an empty line', async (t) => {
  const lines = ['A', '', '$ a \\', '    b', 'c', 'd', '$ e &', '', 'f', '$ g']
  const expected = [
    { command: 'a \\\n    b', output: 'c\nd', inBackground: false },
    { command: 'e', output: '', inBackground: true },
    { command: 'g', output: '', inBackground: false },
  ]
  const directory = t.testdir({
    'a.js': `${lines.map((line) => `// ${line}`.trim()).join('\n')}\ncode\n// $ no\n`,
    'a.conf': `${lines.map((line) => `# ${line}`.trim()).join('\n')}\ncode\n# $ no\n`,
    'a.html': `<!doctype html>\n<!--\n${lines.join('\n')}\n-->\n$ no\n`,
    'a.patch': `${lines.join('\n')}\ndiff --git a b\n$ no\n`,
  })
  for (const name of readdirSync(directory)) t.same(exampleCommands(join(directory, name)), expected, name)
})

t.test('the three dots of an output stand for any text of its line', async (t) => {
  t.match('a (1) b', outputPattern('a (…) b'))
  t.notMatch('a 1 b', outputPattern('a (…) b'))
  t.notMatch('a\nb', outputPattern('a…b'))
})
