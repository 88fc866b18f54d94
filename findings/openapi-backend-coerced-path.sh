#!/usr/bin/env bash
# openapi-backend with coerceTypes hands a coerced query to the handler, but the text of a path parameter, although its
# validation has coerced both: the request is parsed a second time from the coerced one, and that reads the path again.
#
# Version: openapi-backend 5.21.2.
# Its documentation of coerceTypes: "enable coerce typing of request path and query parameters".
# Expected: {"params":{"id":7},"query":{"page":2}}. Seen: {"params":{"id":"7"},"query":{"page":2}}, while
# context.validation.coerced has the number 7. So a handler that compares an id with === finds nothing.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund openapi-backend@5.21.2
cat >coerce.js <<'JS'
import { OpenAPIBackend } from 'openapi-backend'

const integer = { type: 'integer' }
const operation = {
  operationId: 'getBox',
  parameters: [
    { name: 'id', in: 'path', required: true, schema: integer },
    { name: 'page', in: 'query', schema: integer },
  ],
  responses: { 200: { description: 'A box.' } },
}
const definition = { openapi: '3.0.3', info: { title: 'Boxes', version: '1.0.0' }, paths: { '/boxes/{id}': { get: operation } } }
const api = new OpenAPIBackend({ definition, coerceTypes: true })
api.register('getBox', ({ request, validation }) => [request.params, request.query, validation.coerced.params])
await api.init()
console.log(JSON.stringify(await api.handleRequest({ method: 'GET', path: '/boxes/7', query: 'page=2', headers: {} })))
JS
seen=$(node coerce.js)
echo "$seen"
test "$seen" = '[{"id":"7"},{"page":2},{"id":7}]'
