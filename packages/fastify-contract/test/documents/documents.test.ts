import { readdirSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { httpRequest } from '../../../../test/support/http-request.ts'
import { compileContract, compileDocument } from '../../src/compile/compile.ts'
import { exactIntegers } from '../../src/compile/document/exact-integers.ts'
import { contractTypes } from '../../src/compile/emit/contract-types.ts'
import { correctnessRules, redocly } from '../../src/compile/redocly.ts'
import type { AnyHandler } from '../../src/serve/request-steps.ts'
import { serveRoutes, errorBody as usualErrorBody } from '../support/serve-document.ts'
import { type Call, folder, names, type Served } from './served-documents.ts'

const rules = `${folder}/redocly.yaml`
const pathOf = (name: string) => `${folder}/${name}/openapi.yaml`

/** Compiles a document. Only one in several files is bundled and linted alone, since each starts Redocly anew. */
async function compiled(name: string): Promise<Record<string, string>> {
  const path = pathOf(name)
  if (readdirSync(dirname(path)).length > 2) return (await compileContract(path, { rules })).files
  const document = parse(readFileSync(path, 'utf8'))
  const integers = await exactIntegers(document, path)
  return (await compileDocument(document, path, {}, contractTypes, integers)).files
}

t.test('the documents are valid', async (t) => {
  await t.resolves(redocly('lint', `--config=${correctnessRules}`, ...names.map(pathOf)))
})

for (const name of names) {
  t.test(`${name} is served as documented`, async (t) => {
    const files = await compiled(name)
    const printed = (['log', 'warn', 'error'] as const).map((method) => t.capture(console, method))
    const {
      handlers,
      verifiers = {},
      errorBody = usualErrorBody,
      calls,
    }: Served = await import(pathToFileURL(resolve(folder, name, 'handlers.ts')).href)
    const logged: string[] = []
    const app = await serveRoutes(JSON.parse(files['routes.json'] as string), {
      handlers: handlers as Record<string, AnyHandler>,
      verifiers,
      errorBody,
      logger: { level: 'warn', stream: { write: (line) => logged.push(line) } },
    })
    t.teardown(() => app.close())
    const origin = await app.listen({ host: '127.0.0.1', port: 0 })
    for (const call of calls) await check(t, origin, call)
    t.same(
      printed.flatMap((print) => print()),
      [],
      'the process prints nothing',
    )
    t.same(logged, [], 'the service logs nothing')
  })
}

async function check(t: Test, origin: string, call: Call): Promise<void> {
  const [method = '', target = ''] = call.request.split(' ')
  const { send } = call
  const type = send === undefined ? {} : { 'content-type': 'application/json' }
  const sent = send === undefined || typeof send === 'string' ? send : JSON.stringify(send)
  const { status, headers, body } = await httpRequest(origin, {
    method,
    path: target,
    // Node sends the body of a DELETE only with a Content-Length.
    headers: { ...type, ...(sent !== undefined && { 'content-length': Buffer.byteLength(sent) }), ...call.headers },
    ...(sent !== undefined && { body: sent }),
  })
  const name = `${call.request} ${send === undefined ? '' : JSON.stringify(send)}`.slice(0, 100)
  if (!t.equal(status, call.status, name)) t.comment(body)
  if (call.error !== undefined) t.match(JSON.parse(body), { error: call.error }, name)
  if (typeof call.body === 'string') t.equal(body, call.body, name)
  else if (call.body instanceof RegExp) t.match(body, call.body, name)
  else if (call.body !== undefined) t.match(JSON.parse(body), call.body as object, name)
  if (call.answer !== undefined) t.match(headers, call.answer, name)
}
