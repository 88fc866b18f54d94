import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { HTTPMethods } from 'fastify'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { exactClient } from '../../src/client/exact-client.ts'
import { normalizedDocument } from '../../src/compile/document/normalize.ts'
import { type Document, endpoints } from '../../src/compile/document/openapi-document.ts'
import { callStyles } from '../../src/compile/emit/client-table.ts'
import { requestFile } from '../../src/compile/emit/request-file.ts'
import { type CodeSample, withCodeSamples } from '../../src/docs/code-samples.ts'
import type { AnyHandler } from '../../src/serve/request-steps.ts'
import { isStream } from '../../src/serve/send-response.ts'
import { serveDocument } from '../support/serve-document.ts'

const names = ['bodies', 'forms', 'uploads']
const hasCurl = await promisify(execFile)('curl', ['--version']).then(
  () => true,
  () => false,
)
if (!hasCurl) t.comment('NOT RUN: the samples for curl, which is missing')

type Item = Record<string, { responses: object; 'x-codeSamples': CodeSample[] }>

/** Serves a document of test/documents with handlers that read the body and respond 204. */
async function serve(t: Test, name: string) {
  const document = parse(
    readFileSync(`packages/fastify-contract/test/documents/${name}/openapi.yaml`, 'utf8'),
  ) as Document
  for (const item of Object.values(document.paths as Record<string, Item>)) {
    for (const operation of Object.values(item)) operation.responses = { 204: { description: 'Read.' } }
  }
  const read = new Set<string>()
  const handlers = Object.fromEntries(
    endpoints(document).map(({ operationId }) => [
      operationId,
      (async ({ body }: { body: unknown }) => {
        if (isStream(body)) for await (const _part of body);
        read.add(operationId)
        return { status: 204, body: undefined }
      }) as unknown as AnyHandler,
    ]),
  )
  const app = await serveDocument(document, { handlers })
  t.teardown(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { document: { ...document, servers: [{ url }] }, app, read }
}

for (const name of names) {
  t.test(`the service accepts each sample of ${name}`, async (t) => {
    const { document, read } = await serve(t, name)
    const directory = t.testdir()
    const table = { parameters: callStyles(normalizedDocument(document)) }
    const statuses: number[] = []
    const printing = { log: (status: number) => statuses.push(status) }
    const createClient = (options: { baseUrl: string }) => exactClient(table, options)
    const run = async (source: string) => {
      const text = source.replace(/^import .*\n/m, '')
      const make = new Function('createClient', 'console', `return async () => { ${text} }`)
      await make(createClient, printing)()
    }
    const { paths } = withCodeSamples(document, './client.ts') as unknown as { paths: Record<string, Item> }
    for (const { path, method, operationId } of endpoints(document)) {
      const { 'x-codeSamples': samples } = (paths[path] as Item)[method.toLowerCase()] as Item[string]
      t.equal(samples.length, 3, operationId)
      for (const { label, source } of samples) {
        read.delete(operationId)
        if (label === 'curl') {
          if (!hasCurl) continue
          for (const [, file = ''] of source.matchAll(/@([\w.-]+)/g)) writeFileSync(join(directory, file), 'bytes')
          await promisify(execFile)('sh', ['-c', source], { cwd: directory })
        } else await run(source)
        t.ok(read.has(operationId), `${operationId}: ${label}`)
      }
    }
    t.same(new Set(statuses), new Set([204]))
  })

  t.test(`the service accepts each request of the HTTP file of ${name}`, async (t) => {
    const { document, app } = await serve(t, name)
    const [, ...requests] = requestFile(normalizedDocument(document)).split(/^###.*\n/m)
    t.equal(requests.length, endpoints(document).length)
    for (const request of requests) {
      const [head = '', ...rest] = request
        .replace(/^#.*\n/gm, '')
        .replaceAll('{{origin}}', '')
        .split('\n\n')
      const [first = '', ...lines] = head.split('\n')
      const [method, url = ''] = first.split(' ')
      const payload = rest
        .join('\n\n')
        .trimEnd()
        .replace(/^< .*$/gm, 'bytes')
        .replaceAll('\n', '\r\n')
      const headers = Object.fromEntries(lines.map((line) => line.split(/: (.*)/).slice(0, 2)))
      const answer = await app.inject({ method: method as HTTPMethods, url, headers, payload })
      t.equal(answer.statusCode, 204, `${first} ${answer.body}`)
    }
  })
}
