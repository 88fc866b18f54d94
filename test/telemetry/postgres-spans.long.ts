import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import t from 'tap'
import { startTracing } from './telemetry.ts'

// The driver is imported afterwards, as --import does it for a service.
const exporter = new InMemorySpanExporter()
const provider = startTracing([new SimpleSpanProcessor(exporter)])
const { open, startServer } = await import('../store/postgres-stores.ts')
const { createTestApp, authorization } = await import('../support/test-app.ts')

t.test('a statement of the store has a span in the trace of its request', async (t) => {
  const server = await startServer(t)
  const store = await open(t, server.url())
  const { listen } = await createTestApp(t, { store })
  const port = await listen()
  exporter.reset()
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const response = await fetch(`http://127.0.0.1:${port}/plants`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    body: '{"id":1,"name":"Fern"}',
  })
  t.equal(response.status, 200)
  const statements = exporter
    .getFinishedSpans()
    .filter(({ instrumentationScope }) => instrumentationScope.name === '@opentelemetry/instrumentation-pg')
  const ofRequest = statements.filter((span) => span.spanContext().traceId === traceId)
  t.ok(
    ofRequest.some(({ attributes }) =>
      /INSERT INTO/i.test(String(attributes['db.statement'] ?? attributes['db.query.text'])),
    ),
    JSON.stringify(statements.map(({ name, attributes }) => [name, attributes])),
  )
  await provider.shutdown()
})
