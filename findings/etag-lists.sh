#!/usr/bin/env bash
# Servers differ in which If-None-Match gets 304: an entity tag with a comma never does with Express and Koa, and
# @fastify/etag reads neither a list nor `*`.
#
# Versions: express 5.3.0, koa 3.3.0 with koa-conditional-get 3.0.0, fastify 5.12.8 with @fastify/etag 6.2.0, hono
# 4.13.19 with @hono/node-server 2.1.9.
# Rule: RFC 9110, section 8.8.3 (an entity tag has any of %x23-7E, which includes the comma), section 13.1.2 (a list,
# or `*`) and section 5.6.3 (optional whitespace is spaces and tabs).
# Expected: 304 in each column. Seen: as below. Express and Koa share the package fresh, which splits at each comma and
# takes only spaces away.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund express@5.3.0 koa@3.3.0 koa-conditional-get@3.0.0 fastify@5.12.8 \
  @fastify/etag@6.2.0 hono@4.13.19 @hono/node-server@2.1.9
cat >compare.js <<'JS'
import { createServer, get } from 'node:http'
import fastifyEtag from '@fastify/etag'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { etag } from 'hono/etag'
import Koa from 'koa'
import conditional from 'koa-conditional-get'

const tagOf = (path) => (path === '/comma' ? '"1,2"' : '"1"')
const viaExpress = express().use((request, response) => response.set('ETag', tagOf(request.path)).send('seed'))
const viaKoa = new Koa().use(conditional()).use((context) => {
  context.set('ETag', tagOf(context.path))
  context.body = 'seed'
})
const viaFastify = fastify()
await viaFastify.register(fastifyEtag)
viaFastify.get('/*', (request, reply) => reply.header('ETag', tagOf(request.url)).send('seed'))
await viaFastify.ready()
const viaHono = new Hono()
  .use(etag())
  .get('/*', (context) => context.text('seed', 200, { ETag: tagOf(context.req.path) }))
const listeners = {
  express: viaExpress,
  koa: viaKoa.callback(),
  fastify: (request, response) => viaFastify.routing(request, response),
  hono: getRequestListener(viaHono.fetch),
}
const requests = [
  ['one tag', '/', '"1"'],
  ['a list', '/', '"0", "1"'],
  ['a list with a tab', '/', '"0",\t"1"'],
  ['any tag', '/', '*'],
  ['a tag with a comma', '/comma', '"1,2"'],
]
for (const [name, listener] of Object.entries(listeners)) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const seen = []
  for (const [text, path, tag] of requests) {
    const status = await new Promise((resolve) => {
      const options = { port: server.address().port, path, headers: { 'If-None-Match': tag } }
      get(options, (response) => resolve(response.resume().statusCode))
    })
    seen.push(`${text} ${status}`)
  }
  console.log(`${name}: ${seen.join(', ')}`)
  server.close()
}
process.exit()
JS
node compare.js | tee output
diff output - <<'SEEN'
express: one tag 304, a list 304, a list with a tab 200, any tag 304, a tag with a comma 200
koa: one tag 304, a list 304, a list with a tab 200, any tag 304, a tag with a comma 200
fastify: one tag 304, a list 200, a list with a tab 200, any tag 200, a tag with a comma 304
hono: one tag 304, a list 304, a list with a tab 304, any tag 304, a tag with a comma 304
SEEN
