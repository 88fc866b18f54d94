import t from 'tap'
import type { Document } from '../../src/document/openapi-document.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import { refusalLines } from '../support/refusal.ts'

const done = { responses: { 204: { description: 'Done.' } } }
const sends = (schema: object) => ({
  '{$request.query.url}': { post: { requestBody: { content: { 'application/json': { schema } } }, ...done } },
})
const missing = { $ref: '#/components/schemas/Missing' }

const documentOf = (paths: object, more: object = {}): Document =>
  ({ openapi: '3.1.0', info: { title: 'Orders', version: '1.0.0' }, paths, ...more }) as never

t.test('a callback with a problem is left out of all files, and its operation is served', async (t) => {
  const document = documentOf(
    {
      '/orders': {
        post: { operationId: 'addOrder', callbacks: { good: sends({ type: 'string' }), bad: sends(missing) }, ...done },
      },
      '/shared': { $ref: '#/components/pathItems/Shared' },
    },
    {
      webhooks: { ping: { post: { callbacks: { bad: { $ref: '#/components/callbacks/Bad' } }, ...done } } },
      components: {
        callbacks: { Bad: sends(missing) },
        pathItems: { Shared: { get: { operationId: 'getShared', callbacks: { bad: sends(missing) }, ...done } } },
      },
    },
  )
  const { files, routes, warnings } = await compileDocument(document, 'a.yaml')
  t.same(
    routes.operations.map(({ operationId }) => operationId),
    ['getShared', 'addOrder'],
  )
  const published = JSON.parse(files['openapi.json'] as string)
  t.same(Object.keys(published.paths['/orders'].post.callbacks), ['good'])
  t.same(published.components.pathItems.Shared.get.callbacks, {})
  t.same(published.webhooks.ping.post.callbacks, {})
  t.notMatch(files['webhooks.json'], /Missing|"bad"/)
  t.match(files['webhooks.json'], /good/)
  t.equal(warnings.length, 3)
  for (const line of warnings)
    t.match(line, /does not resolve; correct the reference \(so the callback bad is left out\)$/)
})

t.test('a nested callback is left out alone', async (t) => {
  const outer = { '{$request.query.url}': { post: { callbacks: { inner: sends(missing) }, ...done } } }
  const { files } = await compileDocument(
    documentOf({ '/orders': { post: { operationId: 'addOrder', callbacks: { outer }, ...done } } }),
    'a.yaml',
  )
  const { callbacks } = JSON.parse(files['openapi.json'] as string).paths['/orders'].post
  t.same(callbacks, { outer: { '{$request.query.url}': { post: { callbacks: {}, ...done } } } })
})

t.test('a warning counts the callbacks that are left out', async (t) => {
  const callbacks = { one: sends({ $ref: '#/components/schemas/A' }), two: sends({ $ref: '#/components/schemas/A' }) }
  const { warnings } = await compileDocument(
    documentOf(
      { '/orders': { post: { operationId: 'addOrder', callbacks, ...done } } },
      { components: { schemas: { A: { type: 'string', pattern: '(' } } } },
    ),
    'a.yaml',
  )
  t.match(warnings, [/correct it \(so the callback one and 1 more are left out\)$/])
})

t.test('an operation that shares the schema of a callback is refused with it', async (t) => {
  const schema = { $ref: '#/components/schemas/A' }
  const post = {
    operationId: 'addOrder',
    callbacks: { one: sends(schema) },
    requestBody: { content: { 'application/json': { schema } } },
    ...done,
  }
  const document = documentOf(
    { '/orders': { post }, '/health': { get: { operationId: 'getHealth', ...done } } },
    { components: { schemas: { A: { type: 'string', pattern: '(' } } } },
  )
  const lines = await compileDocument(document, 'a.yaml').catch(refusalLines)
  t.match(lines, ['a.yaml cannot be served', /#\/components\/schemas\/A\/pattern: \( is not/])
  const { files, skipped } = await compileDocument(document, 'a.yaml', { skipUnsupported: true })
  t.same(
    skipped.flatMap(({ operations }) => operations),
    ['POST /orders'],
  )
  t.notMatch(files['openapi.json'], 'addOrder')
})

t.test('a path that refers to the path item of a broken callback is refused', async (t) => {
  const callbacks = { bad: sends(missing) }
  const $ref = '#/paths/~1orders/post/callbacks/bad/%7B%24request.query.url%7D'
  const document = documentOf({
    '/orders': { post: { operationId: 'addOrder', callbacks, ...done } },
    '/events': { $ref },
  })
  const { routes, skipped } = await compileDocument(document, 'a.yaml', { skipUnsupported: true })
  t.same(
    routes.operations.map(({ operationId }) => operationId),
    ['addOrder'],
  )
  t.same(skipped[0]?.operations, ['POST /events'])
})

t.test('an operation that refers to a sound part of an unused path item with a problem is served', async (t) => {
  const third = '#/components/pathItems/Third'
  const refers = {
    parameters: [{ $ref: `${third}/parameters/1` }],
    responses: { 201: { $ref: `${third}/get/responses/200` } },
  }
  const parameters = [{ $ref: '#/components/parameters/Broken' }, { in: 'query', name: 'a', schema: {} }]
  const pathItems = { Third: { parameters, get: { responses: { 200: { description: 'The response.' } } } } }
  const components = { parameters: { Broken: {} }, pathItems }
  for (const skipUnsupported of [false, true]) {
    const document = documentOf({ '/first': { get: { operationId: 'getFirst', ...refers } } }, { components })
    const { routes, warnings } = await compileDocument(document, 'a.yaml', { skipUnsupported })
    t.match(routes.operations, [{ operationId: 'getFirst', schema: { response: { 201: {} } } }])
    t.match(warnings.join('\n'), /Broken\/name: is missing; add a string \(no operation uses it\)/)
  }
})
