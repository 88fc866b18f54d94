import t from 'tap'
import { docstringProblems } from '../../scripts/lint/docstrings.ts'

const body = 'export function f() {}'

const right = [
  `/** Returns the plant. */\n${body}`,
  `/** Lower-cases a text. */\n${body}`,
  `/** URL-encodes a text. */\n${body}`,
  `/** Parses. */\n${body}`,
  `/**\n * Passes the text on, which takes the mark with it.\n *\n * @param a Takes any text.\n */\nexport const f = (a: string) => a`,
  `/** Reads a file. */\nexport async function f() {}`,
  `/** Reads a file. */\nexport default function () {}`,
  `/** Reads a file. */\nexport function f(a: string): void\nexport function f(a: number): void\nexport function f() {}`,
  'function f() {}',
  'const f = () => 1',
  '/** Takes what it gets. */\nfunction f() {}',
  '/** The size of a page. */\nexport const size = 7',
  '/** What a plant is. */\nexport type Plant = { f(): void }',
  '/** A plant. */\nexport class Plant {}',
  "export { f } from './f.ts'",
]

t.test('a docstring that begins with a verb in the third person is right', async (t) => {
  for (const text of right) t.same(docstringProblems('a.ts', text), [], text)
})

const openings = [
  'Takes',
  'Gives',
  'Tells',
  'Hears',
  'Does',
  'This',
  'Its',
  'Always',
  'Return',
  'Whether',
  'A',
  'returns',
  '`f`',
]

t.test('a docstring that does not begin with a verb that names the action is reported', async (t) => {
  for (const opening of openings) {
    const [problem, ...more] = docstringProblems('a.ts', `\n/** ${opening} a plant. */\n${body}`)
    t.equal(
      problem,
      `a.ts:3: f has a docstring that begins with "${opening}"; begin with a verb in the third person that names the action ("Returns …")`,
    )
    t.same(more, [])
  }
})

t.test('an exported function without a docstring is found', async (t) => {
  const texts = [body, 'export const f = () => 1', 'export async function f() {}', `// Returns a plant.\n${body}`]
  for (const text of [...texts, `/** @param a A plant. */\n${body}`, `/* Returns a plant. */\n${body}`]) {
    t.match(docstringProblems('a.ts', text), [/^a\.ts:[12]: f has no docstring; write one that begins with /], text)
  }
  t.match(docstringProblems('a.js', 'export default function () {}'), [/^a\.js:1: default has no docstring/])
})
