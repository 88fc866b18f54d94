import t, { type Test } from 'tap'
import { compileContract } from '../../../src/emit/compile.ts'
import { bundleSources } from '../../../src/read/bundle-sources.ts'
import { overlayLimits } from '../../../src/read/overlays/overlay-file.ts'
import { readDocument } from '../../../src/read/read-document.ts'
import type { Source } from '../../../src/read/read-source.ts'
import { readSources } from '../../../src/read/source-files.ts'
import { head, pathsWith } from '../../support/document-with-schema.ts'
import { enterDirectory } from '../../support/enter-directory.ts'

/** Returns an overlay in YAML. */
const overlayOf = (actions: string, version = '1.1.0', more = ''): string =>
  `overlay: ${version}\ninfo: { title: Overlay, version: 1.0.0 }\n${more}actions:\n${actions}`

/** Returns the sources of a document with overlays, each given as its actions. */
async function overlaid(t: Test, document: string, ...actions: string[]) {
  const files = Object.fromEntries(actions.map((each, index) => [`${index}.yaml`, overlayOf(each)]))
  enterDirectory(t, { 'openapi.yaml': document, ...files })
  const sources = await readSources('openapi.yaml', undefined, undefined, { overlays: Object.keys(files) })
  const [source] = sources.files.values()
  return { sources, source: source as Source, value: source?.value as Record<string, unknown> }
}

/** Returns what an action makes of a member `x-a` of a document. */
async function memberAfter(t: Test, before: string, action: string): Promise<unknown> {
  const { value } = await overlaid(
    t,
    `${head}paths: {}\nx-b: { c: [1], d: { e: 1 } }\nx-a: ${before}\n`,
    `  - ${action}`,
  )
  return value['x-a']
}

const merges: [title: string, before: string, action: string, after: unknown][] = [
  [
    'an object is merged with an object',
    '{ a: 1, o: { b: 2 } }',
    '{ target: $.x-a, update: { o: { c: 3 }, d: 4 } }',
    { a: 1, o: { b: 2, c: 3 }, d: 4 },
  ],
  ['a list of an object is concatenated', '{ l: [1, 2] }', '{ target: $.x-a, update: { l: [3] } }', { l: [1, 2, 3] }],
  ['a primitive value of an object is replaced', '{ a: text }', '{ target: $.x-a, update: { a: 7 } }', { a: 7 }],
  ['null is a primitive value', '{ a: null }', '{ target: $.x-a, update: { a: 7 } }', { a: 7 }],
  ['a list is concatenated with a list', '[1]', '{ target: $.x-a, update: [2, 3] }', [1, 2, 3]],
  ['an object is appended to a list', '[1]', '{ target: $.x-a, update: { b: 2 } }', [1, { b: 2 }]],
  ['a primitive value is appended to a list', '[1]', '{ target: $.x-a, update: null }', [1, null]],
  ['a primitive target is replaced', '[1, { b: 2 }, 3]', "{ target: '$.x-a[?@ > 1]', update: 7 }", [1, { b: 2 }, 7]],
  [
    'a primitive item of a list is removed',
    '[one, two, one]',
    '{ target: \'$.x-a[?@ == "one"]\', remove: true }',
    ['two'],
  ],
  [
    'items are removed by their indexes before',
    '[0, 1, 2, 3, 4]',
    "{ target: '$.x-a[0, 2, 2, -1]', remove: true }",
    [1, 3],
  ],
  [
    'a value and a part of it are removed',
    '{ b: { b: 1 }, c: [{ b: 2 }] }',
    '{ target: $.x-a..b, remove: true }',
    { c: [{}] },
  ],
  ['remove counts more than update', '{ b: 1 }', '{ target: $.x-a.b, update: 7, remove: true }', {}],
  ['remove: false leaves an update', '{ b: 1 }', '{ target: $.x-a.b, update: 7, remove: false }', { b: 7 }],
  ['a value that is selected twice is updated once', '[[1]]', "{ target: '$.x-a[0, 0]', update: [2] }", [[1, 2]]],
  ['a copy is merged', '{ d: { f: 2 } }', '{ target: $.x-a, copy: $.x-b }', { c: [1], d: { e: 1, f: 2 } }],
  ['a copy of a list is concatenated', '[0]', '{ target: $.x-a, copy: $.x-b.c }', [0, 1]],
  [
    'a value is copied into itself as it was before',
    '{ b: { } }',
    '{ target: $.x-a.b, copy: $.x-a }',
    { b: { b: {} } },
  ],
  [
    'a filter compares integers beyond 2^53',
    '[9223372036854775807, 1]',
    "{ target: '$.x-a[?@ > 5]', remove: true }",
    [1],
  ],
  [
    'a member __proto__ is a member',
    '{ }',
    "{ target: $.x-a, update: { '__proto__': { b: 1 } } }",
    JSON.parse('{ "__proto__": { "b": 1 } }'),
  ],
]

for (const [title, before, action, after] of merges) {
  t.test(`overlay: ${title}`, async (t) => {
    t.strictSame(await memberAfter(t, before, action), after)
  })
}

t.test('the value of an update is a value of its own at each target', async (t) => {
  const { value } = await overlaid(
    t,
    `${head}paths: {}\nx-a: [{}, {}]\n`,
    "  - { target: '$.x-a[*]', update: { b: [1] } }\n  - { target: '$.x-a[0].b', update: [2] }",
  )
  t.strictSame(value['x-a'], [{ b: [1, 2] }, { b: [1] }])
})

t.test('actions and overlays apply in their order, each to the result of the one before', async (t) => {
  const { value } = await overlaid(
    t,
    `${head}paths: {}\nx-a: { b: [1] }\n`,
    '  - { target: $.x-a, remove: true }\n  - { target: $, update: { x-a: { c: 1 } } }',
    '  - { target: $.x-a.c, update: 2 }',
  )
  t.strictSame(value['x-a'], { c: 2 })
})

t.test('a place is in the overlay for what it writes, and in the document for the rest', async (t) => {
  const { source } = await overlaid(
    t,
    `${head}paths: {}\nx-a:\n  - one\n  - two\n  - { b: 1 }\nx-n: 1.10\n`,
    "  - { target: '$.x-a[0]', remove: true }\n  - target: $.x-a\n    update:\n      - c: 1.20\n",
    '  - { target: $, update: { x-c: {} } }\n  - { target: $.x-c, copy: $.x-a }\n'.replace('x-c: {}', 'x-c: []'),
  )
  const place = (...keys: string[]) => {
    const { name = 'openapi.yaml', line, col } = source.placeOf(keys)
    return `${name}:${line}:${col}`
  }
  t.equal(place('info', 'title'), 'openapi.yaml:2:16')
  t.equal(place('x-a', '0'), 'openapi.yaml:6:5', 'an item after a removed one')
  t.equal(place('x-a', '1', 'b'), 'openapi.yaml:7:10')
  t.equal(place('x-a', '2', 'c'), '0.yaml:7:12')
  t.equal(place('x-a', '2', 'none'), '0.yaml:7:9', 'the closest value above')
  t.equal(place('x-c'), '1.yaml:4:33')
  t.equal(place('x-c', '0'), 'openapi.yaml:6:5', 'a copied value of the document')
  t.equal(place('x-c', '2', 'c'), '0.yaml:7:12', 'a copied value of an overlay')
  t.equal(source.textAt(['x-n']), '1.10')
  t.equal(source.textAt(['x-a', '2', 'c']), '1.20')
  t.equal(source.textAt(['x-c', '2', 'c']), '1.20')
  t.equal(source.textAt(['x-a', '3']), undefined)
})

t.test('a problem in an overlay names the line of the overlay, and its digits reach the document', async (t) => {
  enterDirectory(t, {
    'openapi.yaml': pathsWith('{ type: integer, minimum: 9007199254740993 }'),
    'wrong.yaml': overlayOf('  - target: $.paths.*.post\n    update: { operationId: 7 }\n'),
    'right.yaml': overlayOf(
      "  - target: $..schema[?@ == 'integer']\n    update: integer\n  - target: $..schema\n    update: { maximum: 9223372036854775806 }\n",
    ),
  })
  await t.rejects(compileContract('openapi.yaml', { overlays: ['wrong.yaml', 'none.yaml'] }), {
    message: 'none.yaml does not exist; name an overlay, a file',
  })
  const { placeOf } = bundleSources(await readDocument('openapi.yaml', { overlays: ['wrong.yaml'] }))
  t.equal(placeOf('#/paths/~1a/post/operationId'), 'wrong.yaml:5:28')
  const { files } = await compileContract('openapi.yaml', { overlays: ['right.yaml'] })
  t.match(files['openapi.json'], '"minimum": 9007199254740993')
  t.match(files['openapi.json'], '"maximum": 9223372036854775806')
  t.match(files['contract.mjs'], '9223372036854775806', 'the text of the document that a service publishes')
})

t.test('a reference in an overlay is relative to the document, and may not leave its directories', async (t) => {
  const schema = 'type: string'
  enterDirectory(t, {
    'secret.yaml': schema,
    api: { 'openapi.yaml': pathsWith('{ type: object }'), 'name.yaml': schema },
    fixes: {
      'near.yaml': overlayOf('  - { target: $..schema, update: { properties: { name: { $ref: ./name.yaml } } } }'),
      'far.yaml': overlayOf('  - { target: $..schema, update: { properties: { name: { $ref: ../secret.yaml } } } }'),
    },
  })
  const document = 'api/openapi.yaml'
  const { files } = await readDocument(document, { overlays: ['fixes/near.yaml'], within: ['api'] })
  t.equal(files.size, 2)
  await t.rejects(readDocument(document, { overlays: ['fixes/far.yaml'], within: ['api'] }), {
    message: /^fixes\/far\.yaml:4:64: refers to .*secret\.yaml, which is outside of api;/,
  })
})

t.test('an overlay applies to the file that it extends', async (t) => {
  enterDirectory(t, {
    'openapi.yaml': pathsWith('{ $ref: schemas/name.yaml }'),
    schemas: { 'name.yaml': 'type: string' },
    fixes: {
      'a.yaml': overlayOf('  - { target: $, update: { maxLength: 7 } }', '1.1.0', 'extends: ../schemas/name.yaml\n'),
    },
  })
  const overlays = ['fixes/a.yaml']
  const bundle = bundleSources(await readDocument('openapi.yaml', { overlays }))
  const { paths } = bundle.document as unknown as { paths: Record<string, { post: { requestBody: object } }> }
  t.match(JSON.stringify(paths['/a']?.post.requestBody), /name/)
  t.match(JSON.stringify(bundle.document), '"maxLength":7')
})

t.test('an overlay that extends a URL or no file applies to the document', async (t) => {
  const actions = '  - { target: $.info, update: { summary: New } }'
  enterDirectory(t, {
    'openapi.yaml': `${head}paths: {}\n`,
    'url.yaml': overlayOf(actions, '1.0.0', 'extends: https://example.com/openapi.yaml\n'),
    'none.yaml': overlayOf(actions, '1.0.0', 'extends: none/openapi.yaml\n'),
  })
  for (const [name, warnings] of [
    ['url.yaml', []],
    [
      'none.yaml',
      [
        '#: extends leads to none/openapi.yaml, which does not exist; the overlay applies to the document; correct or remove extends (none.yaml:3:10)',
      ],
    ],
  ] as const) {
    const sources = await readDocument('openapi.yaml', { overlays: [name] })
    t.match([...sources.files.values()][0]?.value, { info: { summary: 'New' } })
    t.strictSame(sources.warnings, warnings)
  }
})

t.test('an action without an effect is a warning with its place', async (t) => {
  const { sources } = await overlaid(
    t,
    `${head}paths: {}\n`,
    '  - { target: $.none, copy: $.none }\n  - target: $.info\n',
  )
  t.strictSame(sources.warnings, [
    '#: target $.none selects nothing; correct it, or remove the action (0.yaml:4:15)',
    '#: the action has neither update, copy nor remove: true; add one of them (0.yaml:5:13)',
  ])
})

t.test('overlays have limits of actions, bytes, files, values and time', async (t) => {
  const rejects = async (document: string, actions: string, message: RegExp) =>
    t.rejects(overlaid(t, document, actions), { message })
  const plain = `${head}paths: {}\n`
  t.intercept(overlayLimits, 'milliseconds', { value: 200 })
  const text = `x-a: ${'a'.repeat(40)}!\n`
  await rejects(
    plain + text,
    `  - { target: "$[?match(@, '(a|aa)+b')]", remove: true }`,
    /^0\.yaml: the overlays take more than 0\.2 seconds; use fewer \.\. and simpler patterns$/,
  )
  t.intercept(overlayLimits, 'milliseconds', { value: 60_000 })
  t.intercept(overlayLimits, 'values', { value: 1_000 })
  const doubling = Array.from({ length: 12 }, (_, index) => `  - { target: $.x-l, copy: $.x-l, x-n: ${index} }\n`)
  await rejects(
    `${plain}x-l: [1]\n`,
    doubling.join(''),
    /^the overlays add more than 1000 values; select fewer, or add less$/,
  )
  t.intercept(overlayLimits, 'actions', { value: 1 })
  await rejects(
    plain,
    '  - { target: $.a }\n  - { target: $.b }',
    /^0\.yaml: the overlays have more than 1 actions; write fewer$/,
  )
  t.intercept(overlayLimits, 'bytes', { value: 10 })
  await rejects(plain, '  - { target: $.a }', /^0\.yaml: the overlays have more than 10 bytes; split it$/)
  t.intercept(overlayLimits, 'files', { value: 0 })
  await rejects(plain, '  - { target: $.a }', /^1 overlays are more than 0; merge some of them$/)
})

t.test('an overlay is a file and never fetched', async (t) => {
  enterDirectory(t, { 'openapi.yaml': `${head}paths: {}\n` })
  await t.rejects(readDocument('openapi.yaml', { overlays: ['https://example.com/a.yaml'] }), {
    message: 'https://example.com/a.yaml: an overlay is a file, and not fetched; download it',
  })
})
