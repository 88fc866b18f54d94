import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { diagnose } from 'fastify-contract-test-support/compiler'
import t from 'tap'
import { ownPath } from '../support/own-path.ts'
import { directory as folder, names } from './served-documents.ts'

/** The text that the command prints to stderr for a document, without places. */
const warnings: Record<string, string> = {
  formats: `${folder}/formats/openapi.yaml: #/components/schemas/Values/properties/bounded/example: an integer beyond 2^53 - 1, which the documentation page rounds\n`,
  nested:
    `${folder}/nested/openapi.yaml: #/paths/~1files/post/requestBody/content/multipart~1form-data/encoding/expand: OpenAPI 3.0 ignores style and explode in multipart/form-data\n` +
    `${folder}/nested/openapi.yaml: #/paths/~1files/post/requestBody/content/multipart~1form-data/encoding/link: OpenAPI 3.0 ignores style and explode in multipart/form-data\n`,
  forms: `${folder}/forms/openapi.yaml: #/paths/~1documents/put/requestBody/content/application~1xml: is not validated against its schema\n`,
  methods: `${folder}/methods/openapi.yaml: #/paths/~1files/get: has no operationId; its handler is named getFiles, after its method and path\n`,
  nullable:
    `${folder}/nullable/openapi.yaml: #/components/schemas/Note/properties/tags: maxItems: no effect beside $ref; remove it\n` +
    `${folder}/nullable/openapi.yaml: #/components/schemas/Note/properties/reply: nullable has no effect without a type in the same schema; to allow null, use anyOf with the schema and { type: object, nullable: true, enum: [null] }\n`,
  replies: `${folder}/replies/openapi.yaml: #/paths/~1texts~1%7Bcase%7D/get/responses/201/content/application~1xml: is not validated against its schema\n`,
  security: `${folder}/security/openapi.yaml: #/paths/~1audit/get/security/0/oauth: scope audit is not declared in any flow of oauth; add it there, or correct it here\n`,
  selected:
    `${folder}/selected/openapi.yaml: #/paths/~1%7Bbucket%7D%23acl/parameters/1: parameter acl: an empty value is rejected, since it is not of type boolean; add the type 'null', or remove allowEmptyValue\n` +
    `${folder}/selected/openapi.yaml: #/paths/~1faces%23overload%3Dstream: no request has a fragment, so the path is served without it\n`,
}

type Generated = { files: Record<string, string>; handlers: string }
const generated: Record<string, Generated> = {}
const directory = t.testdir()
const waiting = [...names]
// Runs two commands at a time, because each of them starts other processes.
await Promise.all(
  [1, 2].map(async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) generated[name] = await generate(name)
  }),
)

/** Generates the files of a document with the command of `npm run generate`, as a user does. */
async function generate(name: string): Promise<Generated> {
  const out = join(directory, name)
  const options = ['--document', `${folder}/${name}/openapi.yaml`, '--rules', `${folder}/redocly.yaml`, '--out', out]
  const handlersFile = `${folder}/${name}/handlers.ts`
  if (/^export const errorBody\b/m.test(readFileSync(handlersFile, 'utf8'))) options.push('--errors', handlersFile)
  const command = ['--import=tsx', ownPath('src/cli.ts'), 'generate', ...options]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command)
  const [, handlers = ''] = /^new, for src\/handlers\.ts:\n\n(.*)\n\nwrote /s.exec(stdout) ?? []
  t.ok(handlers, `${name}: handlers are printed`)
  t.equal(stderr.replace(/ \(\S+:\d+:\d+\)$/gm, ''), warnings[name] ?? '', `${name}: warnings`)
  const files = readdirSync(out).map((file) => [file, readFileSync(join(out, file), 'utf8')])
  return { files: Object.fromEntries(files), handlers }
}

t.test('handlers, printed ones included, have the types of their documents', async (t) => {
  const types = Object.fromEntries(
    Object.entries(generated).flatMap(([name, { files }]) =>
      ['api.d.ts', 'handler-types.d.ts'].map((file) => [`${folder}/${name}/${file}`, files[file] as string]),
    ),
  )
  const handlers = names.map((name) => `${folder}/${name}/handlers.ts`)
  const head = [
    "import { ContractError } from 'fastify-contract'",
    "import type { Handlers } from './handler-types.d.ts'",
    'export const handlers: Handlers = {',
  ].join('\n')
  const printed = Object.fromEntries(
    Object.entries(generated).map(([name, { handlers }]) => [
      `${folder}/${name}/printed.ts`,
      `${head}\n${handlers}\n}\nexport const used = ContractError`,
    ]),
  )
  t.same(diagnose([...handlers, ...Object.keys(printed)], { ...types, ...printed }), [])
})
