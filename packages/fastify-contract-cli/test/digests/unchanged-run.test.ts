import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { run as generate } from '../../src/cli/generate.ts'
import { recordLimits } from '../../src/digests/run-record.ts'
import { enterDirectory } from '../support/enter-directory.ts'

const records = 'node_modules/.cache/fastify-contract'
const marker = 'this line is of the record'

const pets = `openapi: 3.1.0
info: { title: Pets, version: 1.0.0, description: { $ref: about.md } }
paths:
  /pets:
    get:
      operationId: getPets
      responses:
        '200':
          description: Pets.
          content:
            application/json:
              schema: { $ref: pet.yaml }
              examples: { one: { externalValue: one.json } }
        '400': { description: Wrong., content: { application/json: { schema: { $ref: '#/components/schemas/Error' } } } }
components:
  schemas:
    Error: { type: object, required: [error], properties: { error: { type: integer } } }
`

const errorBody = `import { STATUS_CODES } from 'node:http'
import { member } from './member.js'
import { number } from 'numbers'
export const errorBody = ({ error }) =>
  ({ contentType: 'application/json', body: { [member]: error + number * Object.keys(STATUS_CODES).length } })
`

const files = {
  'package.json': '{ "type": "module" }',
  'openapi.yaml': pets,
  'pet.yaml': 'type: string\n',
  'about.md': 'Pets.',
  'redocly.yaml': 'rules: { info-license: off }\n',
  src: { 'error-body.js': errorBody, 'member.js': "export const member = 'error'\n" },
  node_modules: {
    numbers: {
      'package.json': '{ "version": "1.0.0", "exports": "./index.js" }',
      'index.js': 'export const number = 0',
    },
  },
}

/** Returns the path of the only record. */
function recordPath(): string {
  const names = readdirSync(records)
  return join(records, names[0] as string)
}

/** Adds a line to the warnings of the record, which only a run that uses the record prints. */
function markRecord(): void {
  const record = JSON.parse(readFileSync(recordPath(), 'utf8'))
  if (!record.run.warnings.includes(marker)) record.run.warnings.push(marker)
  writeFileSync(recordPath(), JSON.stringify(record))
}

/** Returns the lines of a run. */
async function linesOf(t: Test, ...args: string[]): Promise<string[]> {
  const warnings = t.capture(console, 'warn')
  const lines = t.capture(console, 'log')
  const failures: string[] = []
  try {
    await generate([...args, ...(args.includes('--errors') ? [] : ['--errors', 'src/error-body.js'])])
  } catch (error) {
    failures.push((error as Error).message)
  } finally {
    warnings.restore()
    lines.restore()
  }
  return [...[...warnings(), ...lines()].map(({ args: [line] }) => String(line)), ...failures]
}

/** Returns whether a run uses the record instead of doing the whole work. */
async function isQuick(t: Test, ...args: string[]): Promise<boolean> {
  markRecord()
  return (await linesOf(t, ...args)).includes(marker)
}

t.test('a run without a change prints the lines of the whole run, and does not do its work', async (t) => {
  enterDirectory(t, { ...files, 'pet.yaml': 'type: string\nformat: unknown-format\nnullable: true\n' })
  t.match((await linesOf(t)).at(-1), /^wrote generated.contract\.mjs/)
  rmSync(records, { recursive: true })
  const whole = await linesOf(t)
  t.ok(whole.length > 1)
  t.equal(whole.at(-1), 'up to date')
  t.same(await linesOf(t), whole)
  const checked = await linesOf(t, '--check')
  t.same(checked, whole.slice(0, -1))
  t.ok(await isQuick(t))
  t.ok(await isQuick(t, '--check'))
  t.ok(await isQuick(t, 'openapi.yaml'))

  writeFileSync('generated/notes.md', 'mine')
  const problem = `these files are not generated from the document; remove them: ${join('generated', 'notes.md')}`
  t.same((await linesOf(t)).slice(-2), [problem, 'up to date'])
  t.equal((await linesOf(t, '--check')).at(-1), problem)
  t.ok(await isQuick(t))
})

t.test('each change of an input, an option or a generated file is a whole run', async (t) => {
  enterDirectory(t, files)
  const changes: Record<string, () => void> = {
    'the document': () => writeFileSync('openapi.yaml', pets.replace('Wrong.', 'Other.')),
    'a file that the document refers to': () => writeFileSync('pet.yaml', 'type: integer\n'),
    'a text that the document refers to': () => writeFileSync('about.md', 'Other.'),
    'a file that the document refers to, and that was missing': () => writeFileSync('one.json', '"a"'),
    'the configuration': () => writeFileSync('redocly.yaml', 'rules: { info-license: warn }\n'),
    'the module of errors': () => writeFileSync('src/error-body.js', `${errorBody}// Changed.\n`),
    'a module that it imports': () => writeFileSync('src/member.js', "export const member = 'error'"),
    'the manifest of a package that it imports': () =>
      writeFileSync('node_modules/numbers/package.json', '{ "version": "1.0.1", "exports": "./index.js" }'),
    'the version of a package that a package imports': () => writeFileSync('node_modules/.package-lock.json', '{}'),
    'a package that is installed closer to it': () => {
      mkdirSync('src/node_modules/numbers', { recursive: true })
      writeFileSync('src/node_modules/numbers/package.json', '{ "version": "2.0.0", "exports": "./index.js" }')
      writeFileSync('src/node_modules/numbers/index.js', 'export const number = 0')
    },
    'a configuration of TypeScript': () => writeFileSync('tsconfig.json', '{}'),
    'the manifest of the project': () => writeFileSync('package.json', '{ "type": "module", "private": true }'),
    'a generated file': () => writeFileSync('generated/client.json', '[]'),
    'a generated file that is removed': () => rmSync('generated/client.json'),
  }
  await linesOf(t)
  for (const [name, change] of Object.entries(changes)) {
    t.ok(await isQuick(t), `before ${name}`)
    change()
    t.notOk(await isQuick(t), name)
  }
  t.ok(await isQuick(t))
  t.notOk(await isQuick(t, '--skip-unsupported'))
  t.notOk(await isQuick(t, '--rules', 'redocly.yaml'))
  t.notOk(await isQuick(t, '--errors', 'src/../src/error-body.js'))
  t.notOk(await isQuick(t, 'openapi.yaml', '--out', 'other'))
  t.equal(readdirSync(records).length, 2)
})

t.test('a change that keeps the size and the times of a file is a whole run, and times alone are none', async (t) => {
  enterDirectory(t, files)
  await linesOf(t)
  const { atime, mtime } = statSync('pet.yaml')
  writeFileSync('pet.yaml', 'type: number\n')
  utimesSync('pet.yaml', atime, mtime)
  t.notOk(await isQuick(t))
  utimesSync('pet.yaml', new Date(), new Date())
  t.ok(await isQuick(t))
})

t.test('a record that is broken, or of another version, is ignored', async (t) => {
  enterDirectory(t, files)
  await linesOf(t)
  const path = recordPath()
  const whole = readFileSync(path, 'utf8')
  const foreign = JSON.stringify({ ...JSON.parse(whole), key: 'other' })
  const large = whole + ' '.repeat(recordLimits.bytes)
  for (const text of ['', whole.slice(0, -20), '{}', 'null', '[]', foreign, large]) {
    writeFileSync(path, text)
    t.same(await linesOf(t), ['up to date'])
    t.equal(readFileSync(path, 'utf8'), whole)
  }
})

t.test('without node_modules, or where it cannot be written, each run is a whole one', async (t) => {
  enterDirectory(t, files)
  writeFileSync('node_modules/.cache', '')
  t.match((await linesOf(t)).at(-1), /^wrote/)
  t.same(await linesOf(t), ['up to date'])
  t.equal(readFileSync('node_modules/.cache', 'utf8'), '')
})

t.test('two runs at once leave a whole record', async (t) => {
  enterDirectory(t, files)
  const lines = t.capture(console, 'log')
  await Promise.all(Array.from({ length: 3 }, () => generate(['--errors', 'src/error-body.js'])))
  lines.restore()
  t.equal(readdirSync(records).length, 1)
  t.ok(await isQuick(t))
})

t.test('a run that fails leaves no record', async (t) => {
  enterDirectory(t, { ...files, 'openapi.yaml': pets.replace('type: integer', 'type: 5') })
  await linesOf(t)
  t.throws(() => readdirSync(records))
})

t.test('a module of errors that reads the environment or files is loaded each time', async (t) => {
  enterDirectory(t, {
    ...files,
    src: { ...files.src, 'member.js': 'export const member = process.env.NAME ?? "error"' },
  })
  await linesOf(t)
  t.throws(() => readdirSync(records))
})

t.test('only the newest records are kept, and none that is too large', async (t) => {
  enterDirectory(t, files)
  mkdirSync(records, { recursive: true })
  const names = Array.from({ length: recordLimits.count + 5 }, (_, index) => `${String(index).padStart(64, '0')}.json`)
  for (const [index, name] of names.entries()) {
    writeFileSync(join(records, name), '{}')
    utimesSync(join(records, name), index + 1, index + 1)
  }
  const left = `${'0'.repeat(64)}.json.part`
  writeFileSync(join(records, left), '{')
  utimesSync(join(records, left), 1, 1)
  await linesOf(t)
  const kept = readdirSync(records)
  t.equal(kept.length, recordLimits.count)
  t.notOk(kept.includes(left))
  t.notOk(kept.includes(names[0] as string))
  t.ok(kept.includes(names.at(-1) as string))
  const [own = ''] = kept.filter((name) => !names.includes(name))
  const { size } = statSync(join(records, own))
  rmSync(join(records, own))
  t.intercept(recordLimits, 'bytes', { value: size - 1 })
  await linesOf(t)
  t.notOk(readdirSync(records).includes(own))
})
