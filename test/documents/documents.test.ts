import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import Fastify, { type FastifyInstance, type HTTPMethods } from 'fastify'
import t, { type Test } from 'tap'
import { serverOptions } from '../../src/http/server-options.ts'
import { registerOperations } from '../../src/openapi/register-operations.ts'
import type { AnyHandler } from '../../src/openapi/request-steps.ts'
import { diagnose } from '../support/compiler.ts'
import type { Call, Served } from './call.ts'

const folder = 'test/documents'
const names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []))

/** What the command prints to stderr. */
const warnings: Record<string, string> = {
  methods:
    'test/documents/methods/openapi.yaml: #/paths/~1files/get: has no operationId; its handler is called getFiles, after its method and path\n',
}

type Generated = { files: Record<string, string>; handlers: string }
const generated: Record<string, Generated> = {}
const directory = t.testdir()
const waiting = [...names]
// Two commands at a time: each of them starts others.
await Promise.all(
  [1, 2].map(async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) generated[name] = await generate(name)
  }),
)

/** Runs npm run generate for the document in a folder, as a user does. */
async function generate(name: string): Promise<Generated> {
  const out = join(directory, name)
  const options = ['--document', `${folder}/${name}/openapi.yaml`, '--rules', `${folder}/redocly.yaml`, '--out', out]
  const command = ['--import=tsx', 'scripts/generate.ts', ...options]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command)
  const [, handlers = ''] = /^new, for src\/handlers\.ts:\n\n(.*)\n\nwrote /s.exec(stdout) ?? []
  t.ok(handlers, `${name}: handlers are printed`)
  t.equal(stderr, warnings[name] ?? '', `${name}: warnings`)
  const files = readdirSync(out).map((file) => [file, readFileSync(join(out, file), 'utf8')])
  return { files: Object.fromEntries(files), handlers }
}

for (const [name, { files }] of Object.entries(generated)) {
  t.test(`${name} is served as it says`, async (t) => {
    const printed = (['log', 'warn', 'error'] as const).map((method) => t.capture(console, method))
    const {
      handlers,
      verifiers = {},
      calls,
    }: Served = await import(pathToFileURL(resolve(folder, name, 'handlers.ts')).href)
    const logged: string[] = []
    const app = Fastify({ ...serverOptions, logger: { level: 'warn', stream: { write: (line) => logged.push(line) } } })
    const routes = JSON.parse(files['routes.json'] as string)
    await registerOperations(app as unknown as FastifyInstance, {
      routes,
      handlers: handlers as Record<string, AnyHandler>,
      verifiers,
    })
    await app.ready()
    for (const call of calls) await check(t, app, call)
    t.same(
      printed.flatMap((print) => print()),
      [],
      'nothing is printed',
    )
    t.same(logged, [], 'nothing is logged')
  })
}

async function check(t: Test, app: Fastify.FastifyInstance, call: Call): Promise<void> {
  const [method, url = ''] = call.request.split(' ')
  const { send } = call
  const type = send === undefined ? {} : { 'content-type': 'application/json' }
  const answer = await app.inject({
    method: method as HTTPMethods,
    url,
    headers: { ...type, ...call.headers },
    ...(send !== undefined && { payload: typeof send === 'string' ? send : JSON.stringify(send) }),
  })
  const name = `${call.request} ${send === undefined ? '' : JSON.stringify(send)}`.slice(0, 100)
  if (!t.equal(answer.statusCode, call.status, name)) t.comment(answer.body)
  if (call.error !== undefined) t.match(answer.json(), { error: call.error }, name)
  if (typeof call.body === 'string') t.equal(answer.body, call.body, name)
  else if (call.body instanceof RegExp) t.match(answer.body, call.body, name)
  else if (call.body !== undefined) t.match(answer.json(), call.body as object, name)
  if (call.answer !== undefined) t.match(answer.headers, call.answer, name)
}

t.test('the handlers have the types of their documents, also those that are printed', async (t) => {
  const types = Object.fromEntries(
    Object.entries(generated).map(([name, { files }]) => [`${folder}/${name}/api.d.ts`, files['api.d.ts'] as string]),
  )
  const handlers = names.map((name) => `${folder}/${name}/handlers.ts`)
  const head = [
    "import type { Handlers } from '../../../src/openapi/handler-types.ts'",
    "import type { operations } from './api.d.ts'",
    'export const handlers: Handlers<operations> = {',
  ].join('\n')
  const printed = Object.fromEntries(
    Object.entries(generated).map(([name, { handlers }]) => [
      `${folder}/${name}/printed.ts`,
      `${head}\n${handlers}\n}`,
    ]),
  )
  t.same(diagnose([...handlers, ...Object.keys(printed)], { ...types, ...printed }), [])
})
