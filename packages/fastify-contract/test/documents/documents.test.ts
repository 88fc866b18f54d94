import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { httpRequest } from '../../../../test/support/http-request.ts'
import { compileContract } from '../../src/compile/compile.ts'
import type { AnyHandler } from '../../src/serve/request-steps.ts'
import { serveRoutes, errorBody as usualErrorBody } from '../support/serve-document.ts'
import { type Call, folder, names, type Served } from './served-documents.ts'

const generated = Object.fromEntries(
  await Promise.all(
    names.map(async (name) => [
      name,
      (await compileContract(`${folder}/${name}/openapi.yaml`, { rules: `${folder}/redocly.yaml` })).files,
    ]),
  ),
) as Record<string, Record<string, string>>

for (const [name, files] of Object.entries(generated)) {
  t.test(`${name} is served as documented`, async (t) => {
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
