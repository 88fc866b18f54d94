import { Validator } from '@seriousme/openapi-schema-validator'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { document } from './support/contract.ts'
import { createTestApp } from './support/test-app.ts'

t.test('the validator of fastify-openapi-glue, which the bundle leaves out, accepts the document', async (t) => {
  t.same(await new Validator().validate(structuredClone(document)), { valid: true })
})

t.test('fastify-openapi-glue registers the operations, and @fastify/bearer-auth its hook', async (t) => {
  const registered: [url: string, by: FastifyInstance][] = []
  const { app } = await createTestApp(t, {
    plugins(app) {
      app.addHook('onRoute', function note({ url }) {
        registered.push([url, this])
      })
    },
  })
  await app.ready()
  const [[url, by] = [], ...others] = registered
  t.equal(url, '/plants')
  t.not(by, app, 'the instance of the plugin')
  t.same(others, [])
  t.ok(app.hasDecorator('verifyBearerAuth'))
})
