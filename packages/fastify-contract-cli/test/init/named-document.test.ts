import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { run } from '../../src/cli/init.ts'
import { run as lint } from '../../src/cli/lint.ts'
import { sample } from '../../src/init/named-document.ts'
import { askChoice } from '../../src/init/questions.ts'
import { enterDirectory } from '../support/enter-directory.ts'
import { startPages } from '../support/url-server.ts'

const documentOf = (schema: object) =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Pets', version: '1.0.0' },
    paths: {
      '/a': {
        get: {
          operationId: 'getA',
          responses: { 200: { description: 'A.', content: { 'application/json': { schema } } } },
        },
      },
    },
  })

t.test('init fetches the document of a URL, and remembers the URL', async (t) => {
  const { at, pages } = await startPages(t, {
    '/v1/api.json': documentOf({ $ref: 'pet.json' }),
    '/v1/pet.json': '{ "type": "object" }',
    '/README': documentOf({ type: 'string' }),
    '/package.json': documentOf({ $ref: './tsconfig.json' }),
    '/tsconfig.json': '{ "type": "string" }',
  })
  enterDirectory(t, {})
  const printed = t.capture(console, 'log')
  await run([`${at}/v1/api.json`, 'first'])
  t.match(printed()[0]?.args[0], /^Wrote to \S+first: openapi\/ \(2 files\), package\.json, /)
  t.equal(readFileSync('first/openapi/api.json', 'utf8'), pages['/v1/api.json'])
  t.equal(readFileSync('first/openapi/pet.json', 'utf8'), pages['/v1/pet.json'])
  const settings = (directory: string) =>
    JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))['fastify-contract']
  t.same(settings('first'), { document: 'openapi/api.json', origin: `${at}/v1/api.json` })
  t.match(readFileSync('first/generated/contract.mjs', 'utf8'), /^\/\/ Written by .* from api\.json; edit/)
  // Text of a URL does not replace files of the project.
  await run([`${at}/README`, 'second'])
  t.same(settings('second'), { document: 'openapi/README.json', origin: `${at}/README` })
  await run([`${at}/package.json`, 'third'])
  t.same(readdirSync('third/openapi').sort(), ['package.json', 'tsconfig.json'])
  await t.rejects(run([`${at}/none`, 'fourth']), { message: /none: responds with 404; name the URL/ })
  await t.rejects(run(['http://example.com/a', 'fourth']), { message: /is not a URL of HTTPS/ })
  t.notOk(existsSync('fourth'))
})

t.test('without a document, and without a terminal, init writes a sample', async (t) => {
  enterDirectory(t, {})
  const printed = t.capture(console, 'log')
  await run([])
  t.match(printed()[0]?.args[0], /^3 of 3 operations respond as the document describes them\.$/m)
  t.equal(readFileSync('openapi.yaml', 'utf8'), readFileSync(sample, 'utf8'))
  const { 'fastify-contract': settings } = JSON.parse(readFileSync('package.json', 'utf8'))
  t.same(settings, { document: 'openapi.yaml' })
  await run(['--sample', 'other'])
  t.ok(existsSync('other/src/handlers.ts'))
  await t.rejects(run(['--sample', 'openapi.yaml', 'third']), {
    message: /^init: --sample is the document; name only a/,
  })
  printed()
  await lint(['openapi.yaml'])
  t.same(printed()[0]?.args, ['no findings'])
})

/** Answers questions, and returns what was chosen and what was asked. */
async function answered(directory: string | undefined, ...answers: string[]) {
  const input = new PassThrough()
  const output = new PassThrough()
  const choice = askChoice(directory, input, output)
  input.end(answers.map((answer) => `${answer}\n`).join(''))
  const result = await choice.catch(({ message }: Error) => message)
  return { result, asked: String(output.read()) }
}

t.test('questions have defaults, and are asked again if there is no such file', async (t) => {
  enterDirectory(t, {})
  t.same((await answered(undefined, '', '')).result, { document: sample, directory: '.' })
  writeFileSync('api.yaml', '')
  t.same((await answered(undefined, ' ', ' ')).result, { document: sample, directory: 'service' })
  t.same((await answered('here', 'api.yaml')).result, { document: 'api.yaml', directory: 'here' })
  const url = 'https://example.com/api.yaml'
  t.same((await answered(undefined, url, ' my pets ')).result, { document: url, directory: 'my pets' })
  const { result, asked } = await answered('here', 'none.yaml', 'api.yaml')
  t.same(result, { document: 'api.yaml', directory: 'here' })
  t.match(asked, /a path or a URL \(Enter: a sample with three operations\) There is no file "none\.yaml"\.\n/)
  for (const answers of [[], ['api.yaml'], ['none.yaml']])
    t.equal((await answered(undefined, ...answers)).result, 'init: the input ended; nothing is written')
})
