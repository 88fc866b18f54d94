import { register } from 'node:module'
import { FastifyOtelInstrumentation } from '@fastify/otel'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg'
import { NodeTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-node'

/**
 * Starts tracing. It must run before any other module is loaded, since modules are instrumented when they are loaded.
 */
export function startTracing(spanProcessors: SpanProcessor[]): NodeTracerProvider {
  // Lets the instrumentations see ES modules.
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.url)
  const provider = new NodeTracerProvider({ spanProcessors })
  // Continues the trace of a traceparent header (W3C Trace Context), and uses AsyncLocalStorage for the active span.
  provider.register()
  registerInstrumentations({
    instrumentations: [
      new HttpInstrumentation(),
      new FastifyOtelInstrumentation({
        registerOnInitialization: true,
        // Otherwise each step of the server has a span, too.
        instrumentHooks: false,
        requestHook(span, request) {
          const { operationId } = (request.routeOptions.schema ?? {}) as { operationId?: string }
          if (operationId !== undefined) span.setAttribute('openapi.operation_id', operationId)
        },
      }),
      new PgInstrumentation(),
    ],
  })
  return provider
}
