import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { bundle, lint } from '../../src/redocly/redocly.ts'
import { head, pathsWith } from '../support/document-with-schema.ts'
import { enterDirectory } from '../support/enter-directory.ts'

const decorators = 'decorators: { info-override: { title: Decorated } }\n'

/** Returns a document with a chain of schemas, each with a property that refers to the next one. */
function chainOf(length: number): string {
  const schemas: Record<string, object> = {}
  for (let number = 1; number < length; number++)
    schemas[`S${number}`] = { type: 'object', properties: { next: { $ref: `#/components/schemas/S${number + 1}` } } }
  schemas[`S${length}`] = { type: 'string' }
  return `${pathsWith("{ $ref: '#/components/schemas/S1' }")}components: ${JSON.stringify({ schemas })}\n`
}

t.test('a chain of 3,000 schemas can be linted and decorated', async (t) => {
  enterDirectory(t, { 'openapi.yaml': chainOf(3000), 'all.yaml': decorators })
  t.ok((await lint('openapi.yaml')).some(({ ruleId }) => ruleId === 'operation-summary'))
  const { info, components } = await bundle('openapi.yaml', 'all.yaml')
  t.equal(info.title, 'Decorated')
  t.equal(Object.keys(Object(components).schemas).length, 3000)
})

t.test('a document that exceeds a limit of Redocly is rejected with the limit', async (t) => {
  enterDirectory(t, {
    'nested.yaml': pathsWith(`{ example: ${'['.repeat(120)}${']'.repeat(120)} }`),
    'openapi.yaml': pathsWith('{ type: object }'),
    'all.yaml': decorators,
    'recursive.yaml': 'plugins: [./recursive.cjs]\n',
    'recursive.cjs': 'module.exports = function recurse() { return recurse() }\n',
  })
  const levels = 'its values are nested more than 100 levels deep, which @redocly/cli does not read; move inner schemas'
  await t.rejects(lint('nested.yaml'), { message: `nested.yaml: @redocly/cli cannot lint it:\n${levels}` })
  await t.rejects(bundle('nested.yaml', 'all.yaml'), { message: `with all.yaml; correct one of them:\n${levels}` })
  t.match(await bundle('nested.yaml'), { info: { title: 'A' } })
  await t.rejects(bundle('openapi.yaml', 'recursive.yaml'), {
    message: 'a chain that is too long for @redocly/cli; shorten it to at most 5,000 schemas',
  })
})

t.test('neither lint nor a decorator follows what leads to another host, or is data', async (t) => {
  let connections = 0
  const server = createServer((_request, response) => response.end('{}')).on('connection', () => connections++)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.teardown(() => server.close())
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`
  const example = { $ref: at, nested: [{ $ref: './secret.yaml' }] }
  enterDirectory(t, {
    'openapi.yaml': pathsWith(
      `{ type: object, example: ${JSON.stringify(example)} }`,
      `, '400': { $ref: '${at}' }, '401': { description: A, content: { a/b: { examples: { c: { externalValue: '${at}' } } } } }`,
    ),
    'secret.yaml': 'secret: true',
    'all.yaml': decorators,
  })
  const refusal = 'is a URL, and nothing is fetched; download it beside the document, and refer to the file'
  const findings = await lint('openapi.yaml')
  t.match(
    findings.filter(({ ruleId }) => ruleId === 'no-unresolved-refs'),
    [{ message: `${at} ${refusal}`, location: [{ source: { ref: 'openapi.yaml' } }] }],
  )
  const { info, paths } = (await bundle('openapi.yaml', 'all.yaml')) as ReturnType<typeof JSON.parse>
  t.equal(info.title, 'Decorated')
  const { requestBody, responses } = paths['/a'].post
  t.same(requestBody.content['application/json'].schema.example, example)
  t.same(responses[400], { $ref: at })
  t.same(responses[401].content['a/b'].examples.c, { externalValue: at })
  t.equal(connections, 0)
})

t.test('a plugin that ends the process, throws or changes globals harms only the run of Redocly', async (t) => {
  const plugin = (code: string) => `module.exports = () => { ${code}; return { id: 'own' } }\n`
  enterDirectory(t, {
    'openapi.yaml': pathsWith('{ type: object }'),
    ...configured('exits', plugin('process.exit(3)')),
    ...configured('later', plugin("setImmediate(() => { throw new Error('of the plugin') })")),
    ...configured('globals', plugin("Object.prototype.polluted = 1; process.env.OF_PLUGIN = 'a'")),
  })
  const problem = 'openapi.yaml: @redocly/cli cannot bundle it with'
  await t.rejects(bundle('openapi.yaml', 'exits.yaml'), {
    message: `${problem} exits.yaml; correct one of them:\n@redocly/cli ended with 3`,
  })
  await t.rejects(bundle('openapi.yaml', 'later.yaml'), {
    message: `${problem} later.yaml; correct one of them:\n@redocly/cli ended with Error: of the plugin`,
  })
  t.equal((await bundle('openapi.yaml', 'globals.yaml')).info.title, 'A')
  t.notOk('polluted' in Object.prototype)
  t.notOk('OF_PLUGIN' in process.env)

  function configured(name: string, code: string): Record<string, string> {
    return { [`${name}.yaml`]: `plugins: [./${name}.cjs]\n`, [`${name}.cjs`]: code }
  }
})

t.test('a plugin that cannot be loaded is named without colors', async (t) => {
  enterDirectory(t, { 'openapi.yaml': `${head}paths: {}\n`, 'all.yaml': 'plugins: [./none.cjs]\n' })
  const before = process.env.FORCE_COLOR
  t.teardown(() =>
    before === undefined ? delete process.env.FORCE_COLOR : Object.assign(process.env, { FORCE_COLOR: before }),
  )
  process.env.FORCE_COLOR = '1'
  await t.rejects(bundle('openapi.yaml', 'all.yaml'), { message: /^[ -~\n]*none\.cjs[ -~\n]*$/ })
})
