#!/usr/bin/env bash
# Clients of OpenAPI Generator join a list in a form body by encoded commas, unless the document writes down the default
# `style: form, explode: true`. In a query, they apply this default.
#
# Versions: openapi-generator-cli 7.25.0, generators typescript-fetch and python, with urllib3 2.8.0, pydantic 2.14.4,
# python-dateutil 4.0.0, and esbuild 0.28.1 for TypeScript.
# Rule: OpenAPI 3.0.4, section 4.7.15.1.2: in an Encoding Object, `style` has the values and the default of a query
# parameter; the default of `explode` is true for the style form.
# Expected: tags=fern%2Cmoss&tags=ivy in all three requests. Seen: the body without an Encoding Object is
# tags=fern%2Cmoss%2Civy, in which no reader can tell the two items apart.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
mvn --quiet --batch-mode dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 -DoutputDirectory=.
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
  urllib3==2.8.0 pydantic==2.14.4 python-dateutil==4.0.0 typing-extensions==4.16.0
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund esbuild@0.28.1
cat >api.yaml <<'YAML'
openapi: 3.0.3
info: { title: Seeds, version: '1' }
paths:
  /query:
    post:
      operationId: sendQuery
      parameters: [{ name: tags, in: query, schema: { $ref: '#/components/schemas/Tags' } }]
      responses: { '204': { description: Received } }
  /default:
    post:
      operationId: sendDefault
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema: { type: object, properties: { tags: { $ref: '#/components/schemas/Tags' } } }
      responses: { '204': { description: Received } }
  /form:
    post:
      operationId: sendForm
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema: { type: object, properties: { tags: { $ref: '#/components/schemas/Tags' } } }
            encoding: { tags: { style: form, explode: true } }
      responses: { '204': { description: Received } }
components: { schemas: { Tags: { type: array, items: { type: string } } } }
YAML
for generator in typescript-fetch python; do
  java -jar openapi-generator-cli-7.25.0.jar generate -i api.yaml -g $generator -o $generator >log
done
cat >server.js <<'JS'
import { createServer } from 'node:http'
import { spawn } from 'node:child_process'

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  console.log(`${request.url} ${body}`.trim())
  response.writeHead(204, { connection: 'close' }).end()
})
server.listen(0, '127.0.0.1', () => {
  const [command, ...args] = process.argv.slice(2)
  const client = spawn(command, [...args, `http://127.0.0.1:${server.address().port}`], { stdio: 'inherit' })
  client.on('close', (code) => {
    process.exitCode = code
    server.close()
  })
})
JS
cat >client.ts <<'TS'
import { Configuration, DefaultApi } from './typescript-fetch/index.js'

const api = new DefaultApi(new Configuration({ basePath: process.argv[2] }))
const tags = ['fern,moss', 'ivy']
await api.sendQuery({ tags })
await api.sendDefault({ tags })
await api.sendForm({ tags })
TS
cat >client.py <<'PYTHON'
import sys

import openapi_client

configuration = openapi_client.Configuration(host=sys.argv[1])
api = openapi_client.DefaultApi(openapi_client.ApiClient(configuration))
tags = ["fern,moss", "ivy"]
api.send_query(tags=tags)
api.send_default(tags=tags)
api.send_form(tags=tags)
PYTHON
npx esbuild client.ts --bundle --format=esm --platform=node --outfile=client.js --log-level=error
{
  node server.js node client.js
  PYTHONPATH=python node server.js venv/bin/python client.py
} | tee output
diff output - <<'SEEN'
/query?tags=fern%2Cmoss&tags=ivy
/default tags=fern%2Cmoss%2Civy
/form tags=fern%2Cmoss&tags=ivy
/query?tags=fern%2Cmoss&tags=ivy
/default tags=fern%2Cmoss%2Civy
/form tags=fern%2Cmoss&tags=ivy
SEEN
