import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import Fastify, { type FastifyInstance, type HTTPMethods } from 'fastify'
import t, { type Test } from 'tap'
import { contractFiles } from '../../scripts/generate/contract-files.ts'
import { errorBody as usualErrorBody } from '../../src/error-body.ts'
import { serverOptions } from '../../src/http/server-options.ts'
import { registerOperations } from '../../src/openapi/register-operations.ts'
import type { AnyHandler } from '../../src/openapi/request-steps.ts'
import { type Call, folder, names, type Served } from './served-documents.ts'

const generated = Object.fromEntries(
  await Promise.all(
    names.map(async (name) => [name, await contractFiles(`${folder}/${name}/openapi.yaml`, `${folder}/redocly.yaml`)]),
  ),
) as Record<string, Record<string, string>>

for (const [name, files] of Object.entries(generated)) {
  t.test(`${name} is served as it says`, async (t) => {
    const printed = (['log', 'warn', 'error'] as const).map((method) => t.capture(console, method))
    const {
      handlers,
      verifiers = {},
      errorBody = usualErrorBody,
      calls,
    }: Served = await import(pathToFileURL(resolve(folder, name, 'handlers.ts')).href)
    const logged: string[] = []
    const app = Fastify({ ...serverOptions, logger: { level: 'warn', stream: { write: (line) => logged.push(line) } } })
    const routes = JSON.parse(files['routes.json'] as string)
    await registerOperations(app as unknown as FastifyInstance, {
      routes,
      handlers: handlers as Record<string, AnyHandler>,
      errorBody,
      verifiers: typeof verifiers === 'function' ? await verifiers(app as unknown as FastifyInstance) : verifiers,
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
