import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bundleSources } from '../../src/read/bundle-sources.ts'
import { readSources } from '../../src/read/source-files.ts'

const info = { title: 'A', version: '1' }

/** Returns the bundled document of some files, the problems of its references, and the warnings. */
async function bundled(t: Test, files: Record<string, object>) {
  const texts = Object.entries(files).map(([name, value]) => [name, JSON.stringify(value)])
  const sources = await readSources(join(t.testdir(Object.fromEntries(texts)), 'a.json'))
  const { document, problems } = bundleSources(sources)
  const warnings = sources.warnings.map((line) => line.replace(/ \([^()]*:\d+:\d+\)$/, ''))
  return { document, warnings, problems: [...problems.values()].map(({ text }) => text) }
}

const components = {
  schemas: { Pet: { type: 'string' }, 'a.b': true, Cat: { $ref: '#/components/schemas/Pet' } },
  responses: { Bad: { description: '' } },
}

t.test('a reference without a target is read as the component that it can only mean', async (t) => {
  const schemaCases = [
    ...['Pet', '#/definitions/Pet', '#components/schemas/Pet', 'components/schemas/Pet', '/components/schemas/Pet'],
    '#/schemas/Pet',
  ]
  for (const $ref of schemaCases) {
    const given = { openapi: '3.1.0', info, components: { ...components, headers: { H: { schema: { $ref } } } } }
    const { document, warnings, problems } = await bundled(t, { 'a.json': given })
    t.match(document.components, { headers: { H: { schema: { $ref: '#/components/schemas/Pet' } } } }, $ref)
    const line = `${$ref} does not resolve; read as #/components/schemas/Pet; correct the reference`
    t.same(warnings, [`#/components/headers/H/schema: ${line}`])
    t.same(problems, [])
  }
  const responses = { 200: { $ref: '#/responses/Bad' } }
  const { document } = await bundled(t, {
    'a.json': { openapi: '3.1.0', info, components, paths: { '/a': { get: { responses } } } },
  })
  t.match(document.paths, { '/a': { get: { responses: { 200: { $ref: '#/components/responses/Bad' } } } } })
})

t.test('a reference whose meaning is uncertain has no target', async (t) => {
  const none = 'correct the reference'
  const cases: [$ref: string, text: string][] = [
    ['pet', `does not resolve (there is no file`],
    ['Pet.yaml', 'does not resolve (there is no file'],
    ['a.b', ''],
    ['#/definitions/Dog', none],
    ['#/definitions/Pet/type', none],
    ['#/responses/Pet', none],
    ['#/components/schemas/pet', 'does not resolve; did you mean #/components/schemas/Pet?'],
    ['#/components/schemas/pet/items', none],
    ['#/components/responses/pet', none],
    ['#/components/schema/Pet', none],
  ]
  for (const [$ref, text] of cases) {
    const given = { openapi: '3.1.0', info, components: { ...components, headers: { H: { schema: { $ref } } } } }
    const { warnings, problems } = await bundled(t, { 'a.json': given })
    if (text === '') t.same([warnings.length, problems], [1, []], $ref)
    else t.match([warnings, problems], [[], [text]], $ref)
  }
})

t.test('a file with the bare name is its target, and a name of two files has none', async (t) => {
  const referring = (more: object) => ({
    openapi: '3.1.0',
    info,
    components: { ...more, headers: { H: { schema: { $ref: 'b.json#/Holder' } } } },
  })
  const Holder = { properties: { pet: { $ref: 'Pet' } } }
  const own = await bundled(t, { 'a.json': referring({}), 'b.json': { Holder, components } })
  t.match(own.warnings, ['#/Holder/properties/pet: Pet does not resolve; read as #/components/schemas/Pet;'])
  const root = await bundled(t, { 'a.json': referring(components), 'b.json': { Holder } })
  t.match(root.warnings, ['#/Holder/properties/pet: Pet does not resolve; read as ./a.json#/components/schemas/Pet;'])
  const both = await bundled(t, { 'a.json': referring(components), 'b.json': { Holder, components } })
  t.match([both.warnings, both.problems], [[], ['Pet does not resolve (there is no file']])
  const file = await bundled(t, { 'a.json': referring(components), 'b.json': { Holder }, Pet: { type: 'integer' } })
  t.same([file.warnings, file.problems], [[], []])
})

t.test('references that lead to one another have a line each, and those that lead to them have none', async (t) => {
  const schemas = {
    A: { $ref: '#/components/schemas/B' },
    B: { $ref: '#/components/schemas/A' },
    C: { $ref: '#/components/schemas/A' },
  }
  const parameters = { P: { $ref: '#/components/parameters/P' }, Q: { $ref: '#/components/parameters/P' } }
  const { problems } = await bundled(t, { 'a.json': { openapi: '3.1.0', info, components: { schemas, parameters } } })
  t.same(problems.sort(), [
    '#/components/parameters/P does not resolve (it leads to references only); correct the reference',
    '#/components/parameters/P refers back to itself, so it leads nowhere; correct the reference',
    '#/components/schemas/A refers back to itself, so validation would never end; correct the reference',
    '#/components/schemas/B refers back to itself, so validation would never end; correct the reference',
  ])
})
