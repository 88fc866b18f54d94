import { symlinkSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { hasState } from '../../src/digests/file-state.ts'
import { moduleStates } from '../../src/digests/module-states.ts'
import { toolDigest } from '../../src/digests/tool-digest.ts'
import { configurationStates } from '../../src/redocly/configuration-states.ts'
import { enterDirectory } from '../support/enter-directory.ts'

type States = Map<string, string> | undefined

/** Returns the paths of the files among states that exist, relative to the working directory. */
const filesIn = (states: States): string[] | undefined =>
  states &&
  Array.from(states)
    .filter(([path, state]) => state !== 'no file' && !relative('.', path).startsWith('..'))
    .map(([path]) => relative('.', path))
    .sort()

t.test('the states of a module are those of all that it imports', async (t) => {
  enterDirectory(t, {
    'package.json': '{ "type": "module", "imports": { "#own": "./own.ts" } }',
    'own.ts': 'export const own = 1',
    src: {
      'a.ts':
        "import { b } from './b.js'\nimport '#own'\nimport { c } from '@scope/c'\nimport 'd'\nimport { join } from 'node:path'\nimport type { E } from './e.ts'\nexport const a: E = [b, c, join, 'process.env']",
      'b.ts': "import data from './data.json'\nexport const b = data",
      'data.json': '{}',
      'e.ts': 'export type E = unknown',
    },
    linked: {
      'package.json': '{ "main": "index.cjs" }',
      'index.cjs': "module.exports = { ...require('./f.cjs') }",
      'f.cjs': '',
    },
    node_modules: { '@scope': { c: { 'package.json': '{}', 'index.js': 'exports.c = process.env' } } },
  })
  symlinkSync(resolve('linked'), 'node_modules/d', 'junction')
  const states = await moduleStates([resolve('src/a.ts')])
  t.same(filesIn(states), [
    'linked/f.cjs',
    'linked/index.cjs',
    'linked/package.json',
    'node_modules/@scope/c/package.json',
    'node_modules/d/package.json',
    'own.ts',
    'package.json',
    'src/a.ts',
    'src/b.ts',
    'src/data.json',
  ])
  for (const [path, state] of states ?? []) t.ok(hasState(path, state), path)
  // With this file, another module is meant.
  t.equal(states?.get(resolve('src/b.js')), 'no file')
  t.equal(states?.get(resolve('src/package.json')), 'no file')
})

t.test('a module that may read anything else has no states', async (t) => {
  const texts = {
    environment: 'export const a = process.env.A',
    destructured: 'const { env } = process\nexport { env }',
    global: 'export const a = globalThis.process.env',
    files: "import { readFileSync } from 'node:fs'\nexport const a = readFileSync",
    promises: "export { readFile } from 'fs/promises'",
    programs: "import 'node:child_process'",
    require: "import { createRequire } from 'node:module'\nexport const a = createRequire(import.meta.url)('./b.cjs')",
    network: "export const a = await fetch('https://example.com')",
    requires: 'export const a = require',
    called: 'export const a = (name) => require(name)',
    computed: 'export const a = (name) => import(name)',
    code: "export const a = eval('1')",
    missing: "import './nothing.js'",
    invalid: 'const =',
    binary: "import './a.node'",
    alias: "import '@/alias'",
  }
  enterDirectory(t, {
    ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [`${name}.js`, text])),
    'tsconfig.json': '{ "compilerOptions": { "paths": { "@/*": ["./*"] } } }',
    'alias.ts': '',
    'a.node': '',
  })
  for (const name of Object.keys(texts)) t.equal(await moduleStates([resolve(`${name}.js`)]), undefined, name)
})

t.test('a module that a symbolic link leads to has no states, as the link may lead to an equal file', async (t) => {
  enterDirectory(t, { 'a.js': "import './b.js'", 'b.js': '', c: { 'a.js': '' }, d: {} })
  symlinkSync(resolve('a.js'), 'd/a.js')
  symlinkSync(resolve('c'), 'e', 'junction')
  t.ok(await moduleStates([resolve('a.js')]))
  t.equal(await moduleStates([resolve('d/a.js')]), undefined)
  t.equal(await moduleStates([resolve('e/a.js')]), undefined)
})

t.test('the states of a configuration are those of the files that it names', async (t) => {
  const decorators =
    'decorators:\n  info-description-override: { filePath: ./about.md }\n  x: { names: [a.md, b.md] }\n'
  const extending = {
    'base.yaml': 'extends: base.yaml\nplugins: [plugin.js]\nrules: { $ref: more.yaml }',
    'more.yaml': 'a: c.md',
    'plugin.js': "import './part.js'",
    'part.js': '',
    'c.md': '',
  }
  const inRules = Object.keys(extending).map((name) => `rules/${name}`)
  const chain = Array.from({ length: 110 }, (_, index) => [`${index}.yaml`, `extends: ${index + 1}.yaml`])
  const cases: [text: string, files: Parameters<typeof enterDirectory>[1], states: string[] | undefined][] = [
    [decorators, { 'about.md': '', 'b.md': '' }, ['about.md', 'b.md']],
    ['extends: [recommended, ./rules/base.yaml]', { rules: extending }, inRules],
    ['extends: https://example.com/rules.yaml', {}, undefined],
    ['plugins: [plugin.js]', { 'plugin.js': "import 'node:fs'" }, undefined],
    ['plugins: [missing]', {}, undefined],
    ['extends: 0.yaml', Object.fromEntries(chain), undefined],
  ]
  for (const [text, files, expected] of cases)
    await t.test(text, async (t) => {
      enterDirectory(t, { 'redocly.yaml': text, ...files })
      const states = await configurationStates(undefined)
      t.same(filesIn(states), expected && ['redocly.yaml', ...expected].sort())
      if (text === decorators) t.equal(states?.get(resolve('a.md')), 'no file')
    })
  await t.test('the first configuration of a directory, or the one that is named', async (t) => {
    enterDirectory(t, { 'redocly.yml': 'rules: {}', 'own.yaml': '{}' })
    const states = await configurationStates(undefined)
    const found = Array.from(states ?? [], ([path, state]) => [relative('.', path), state !== 'no file'])
    t.same(found, Object.entries({ 'redocly.yaml': false, 'redocly.yml': true }))
    t.same(filesIn(await configurationStates('own.yaml')), ['own.yaml'])
  })
})

t.test('the digest of the tool follows its code and the versions of its packages', async (t) => {
  const manifest = '{ "dependencies": { "a": "1" } }'
  const first = {
    'package.json': manifest,
    dist: { 'a.js': '' },
    node_modules: { a: { 'package.json': '{ "version": "1" }' } },
  }
  const cases: Record<string, [isOther: boolean, Parameters<typeof enterDirectory>[1]]> = {
    'declarations and source maps': [false, { dist: { 'a.js': '', 'a.d.ts': 'declare', 'a.js.map': '{}' } }],
    'another version of a package': [true, { node_modules: { a: { 'package.json': '{ "version": "2" }' } } }],
    'no package': [true, { node_modules: {} }],
    'another text': [true, { dist: { 'a.js': ' ' } }],
    'another name': [true, { dist: { 'b.js': '' } }],
    'another file': [true, { dist: { 'a.js': '', part: { 'b.js': '' } } }],
  }
  const digestWith = (t: Test, files: Parameters<typeof enterDirectory>[1]) => {
    enterDirectory(t, { ...first, ...files })
    return toolDigest([resolve('dist')])
  }
  let own = ''
  await t.test('the first', async (t) => {
    own = digestWith(t, {})
    t.intercept(process, 'version', { value: 'v99.0.0' })
    t.not(toolDigest([resolve('dist')]), own, 'another version of Node.js')
  })
  for (const [name, [isOther, files]] of Object.entries(cases))
    await t.test(name, async (t) => t.equal(digestWith(t, files) !== own, isOther))
  t.match(toolDigest(), /^[\da-f]{64}$/)
})
