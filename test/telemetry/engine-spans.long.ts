import { spawnSync } from 'node:child_process'
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import t from 'tap'
import { startTracing } from './telemetry.ts'

// The engine is imported afterwards, as --import does it for a service.
const exporter = new InMemorySpanExporter()
const provider = startTracing([new SimpleSpanProcessor(exporter)])
const { createServer } = await import('fastify-contract')
const { compileRoutes } = await import('fastify-contract-cli/testing')

const traceId = '0af7651916cd43dd8448eb211c80319c'
const clientSpan = 'b7ad6b7169203331'
const content = (type: string) => ({ 200: { description: 'Found.', content: { [type]: {} } } })
const routes = compileRoutes({
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1.0.0' },
  paths: {
    '/pets/{id}': {
      get: {
        operationId: 'getPet',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        responses: content('application/json'),
      },
    },
    '/export': { get: { operationId: 'exportPets', responses: content('application/octet-stream') } },
  },
})

async function* bytes() {
  yield Buffer.from('a')
}

/** Serves the document; returns a function that sends a request and resolves with its spans, by their kind of scope. */
async function serve() {
  const app = createServer<never>({
    contract: { routes },
    handlers: {
      async getPet({ path }: { path: { id: string } }) {
        const { trace } = await import('@opentelemetry/api')
        trace.getTracer('store').startSpan('SELECT').end()
        if (path.id === '2') throw new Error('the store failed')
        return { status: 200, body: {} }
      },
      exportPets: async () => ({ status: 200, body: bytes() }),
    } as never,
    verifiers: {},
    errorBody: (() => ({ contentType: 'text/plain', body: 'failed' })) as never,
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  return async (path: string) => {
    exporter.reset()
    await (await fetch(url + path, { headers: { traceparent: `00-${traceId}-${clientSpan}-01` } })).text()
    // The span of a request ends after its response.
    for (let tries = 0; exporter.getFinishedSpans().every(({ name }) => !name.startsWith('GET')); tries++) {
      if (tries === 100) throw new Error('the span of the request did not end')
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    const spans = exporter.getFinishedSpans()
    const find = (matches: (span: ReadableSpan) => boolean) => spans.find(matches) as ReadableSpan
    return {
      spans,
      http: find(({ name }) => name.startsWith('GET')),
      operation: find(({ name }) => name === 'request'),
      handler: find(({ name }) => name.startsWith('handler')),
      store: find(({ name }) => name === 'SELECT'),
    }
  }
}

const parentOf = ({ parentSpanContext }: ReadableSpan) => parentSpanContext?.spanId
const idOf = (span: ReadableSpan) => span.spanContext().spanId

t.test('standard instrumentation shows the route, the operation and the spans of a handler', async (t) => {
  const request = await serve()
  const { spans, http, operation, handler, store } = await request('/pets/1')
  t.ok(
    spans.every((span) => span.spanContext().traceId === traceId),
    'the trace of the client continues',
  )
  t.equal(http.name, 'GET /pets/:id')
  t.match(http.attributes, { 'http.route': '/pets/:id', 'http.response.status_code': 200 })
  t.match(operation.attributes, { 'http.route': '/pets/:id', 'openapi.operation_id': 'getPet' })
  t.same([parentOf(http), parentOf(operation), parentOf(handler)], [clientSpan, idOf(http), idOf(operation)])
  t.equal(parentOf(store), idOf(handler))
  t.equal(spans.length, 4)

  const failed = await request('/pets/2')
  t.match(failed.operation.status, { message: 'the store failed' })
  t.equal(failed.http.attributes['http.response.status_code'], 500)

  const streamed = await request('/export')
  t.equal(streamed.operation.attributes['openapi.operation_id'], 'exportPets', 'the span of a stream ends')

  const unknown = await request('/unknown')
  t.equal(unknown.http.attributes['http.response.status_code'], 404)
  t.notHas(unknown.operation.attributes, 'openapi.operation_id')
  await provider.shutdown()
})

t.test('the modules of this folder compile, which the compiler of the project leaves out', async (t) => {
  const tsc = 'node_modules/typescript/bin/tsc'
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', 'test/telemetry'], { encoding: 'utf8' })
  t.same([status, stdout], [0, ''])
})
