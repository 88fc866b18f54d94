import type { Document } from '../../packages/fastify-contract/src/compile/document/openapi-document.ts'

// The sources below are servers of the document at the path in their argument. Each sends itself a request, prints its
// resident memory in bytes after the response, and exits.

const head = `
  import { readFileSync } from 'node:fs'
  import { createServer, request } from 'node:http'
  const document = JSON.parse(readFileSync(process.argv[2], 'utf8'))
  const operations = Object.entries(document.paths).map(([path, { post }]) => ({ path, id: post.operationId }))
  const plant = { name: 'a' }
  const handlers = (handle) => Object.fromEntries(operations.map(({ id }) => [id, handle]))
  const host = '127.0.0.1'
  function ask({ port }) {
    const headers = { 'content-type': 'application/json' }
    const options = { host, port, path: operations.at(-1).path, method: 'POST', headers }
    request(options, ({ statusCode }) => {
      console.log(process.memoryUsage.rss())
      process.exit(statusCode === 200 ? 0 : 1)
    }).end('{"id":1,"name":"a"}')
  }`

const fastify = `${head}
  import Fastify from 'fastify'
  const app = Fastify()`

const listening = `
  await app.listen({ host, port: 0 })
  ask(app.server.address())`

/** The sources of the peers by name. They run in the directory where the peers are installed. */
export const peerSources = {
  'Fastify by hand': `${fastify}
    const text = { type: 'string', maxLength: 100 }
    for (const { path } of operations) {
      const properties = { name: text, tag: text }
      const body = { type: 'object', required: ['id', 'name'], properties: { id: { type: 'integer' }, ...properties } }
      const reply = { type: 'object', required: ['name'], properties }
      app.post(path, { schema: { body, response: { 200: reply } } }, async () => plant)
    }${listening}`,
  'fastify-openapi-glue': `${fastify}
    import { fastifyOpenapiGlue } from 'fastify-openapi-glue'
    app.register(fastifyOpenapiGlue, { specification: document, serviceHandlers: handlers(async () => plant) })
    ${listening}`,
  'openapi-backend': `${head}
    import { OpenAPIBackend } from 'openapi-backend'
    const answer = (context, request, response) => response.end(JSON.stringify(plant))
    const api = new OpenAPIBackend({ definition: document, quick: true, handlers: handlers(answer) })
    await api.init()
    const server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      const { method, url: path, headers } = request
      await api.handleRequest({ method, path, headers, body }, request, response)
    })
    server.listen(0, host, () => ask(server.address()))`,
  'express-openapi-validator': `${head}
    import express from 'express'
    import { middleware } from 'express-openapi-validator'
    const app = express()
    app.use(express.json())
    app.use(middleware({ apiSpec: document, validateResponses: true }))
    for (const { path } of operations) app.post(path, (request, response) => response.json(plant))
    const server = app.listen(0, host, () => ask(server.address()))`,
}

/** The source of this service's route registration. It is bundled like the service and reads the generated routes. */
export const serviceSources = {
  'registered here': `${head}
    import Fastify from 'fastify'
    import { errorBody } from '../../src/error-body.ts'
    import { serverOptions } from '../../packages/fastify-contract/src/http/server-options.ts'
    import { registerOperations } from '../../packages/fastify-contract/src/serve/register-operations.ts'
    const app = Fastify(serverOptions)
    const routes = JSON.parse(readFileSync(process.argv[2].replace('.json', '.routes.json'), 'utf8'))
    const handle = async () => ({ status: 200, body: plant })
    await registerOperations(app, { routes, handlers: handlers(handle), verifiers: {}, errorBody })
    ${listening}`,
}

/** Returns a document with `count` operations. Each has its own schemas, as in a large service. */
export function documentOf(count: number): Document {
  const numbers = Array.from({ length: count }, (_, n) => n)
  const text = { type: 'string', maxLength: 100 }
  const plant = { type: 'object', required: ['name'], properties: { name: text, tag: text } }
  const content = (name: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } })
  const operation = (n: number) => ({
    operationId: `create${n}`,
    requestBody: { required: true, content: content(`NewPlant${n}`) },
    responses: { 200: { description: 'ok', content: content(`Plant${n}`) } },
  })
  const identified = (n: number) => ({
    allOf: [
      { $ref: `#/components/schemas/Plant${n}` },
      { required: ['id'], properties: { id: { type: 'integer', format: 'int32' } } },
    ],
  })
  return {
    openapi: '3.1.0',
    info: { title: 'Plants', version: '1.0.0' },
    paths: Object.fromEntries(numbers.map((n) => [`/plants${n}`, { post: operation(n) }])),
    components: {
      schemas: Object.fromEntries(
        numbers.flatMap((n) => [
          [`Plant${n}`, plant],
          [`NewPlant${n}`, identified(n)],
        ]),
      ),
    },
  }
}
