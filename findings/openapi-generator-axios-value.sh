#!/usr/bin/env bash
# A typescript-axios client of OpenAPI Generator cannot send a query parameter that is an object and is named "value".
#
# Versions: openapi-generator-cli 7.25.0, generator typescript-axios, axios 1.21.1, typescript 5.9.3.
# Rule: OpenAPI 3.0.4, section 4.7.12.2: the name of a parameter is any string. ECMAScript 2025, section 14.7.5.6: the
# expression of for…of cannot read the names that the loop itself declares.
# Expected: ?color=red, as for a parameter with another name. Seen: the generator succeeds and writes a loop that declares
# `value` over the parameter `value`; the compiler rejects it with TS2448, and the program throws a ReferenceError.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
mvn --quiet --batch-mode dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 -DoutputDirectory=.
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund axios@1.21.1 typescript@5.9.3 esbuild@0.28.1 @types/node@20.19.43
for name in value filter; do
  cat >api.yaml <<YAML
openapi: 3.0.3
info: { title: Seeds, version: '1' }
paths:
  /seeds:
    get:
      operationId: listSeeds
      parameters: [{ name: $name, in: query, schema: { type: object, properties: { color: { type: string } } } }]
      responses: { '204': { description: Received } }
YAML
  java -jar openapi-generator-cli-7.25.0.jar generate -i api.yaml -g typescript-axios -o $name >log
  cat >$name.ts <<TS
import { DefaultApiAxiosParamCreator } from './$name/index.js'

const error = (thrown: Error) => ({ url: thrown.name })
const { url } = await DefaultApiAxiosParamCreator().listSeeds({ color: 'red' }).catch(error)
console.log('$name:', url)
TS
  npx tsc --noEmit --strict --target esnext --module esnext --moduleResolution bundler --types node $name.ts |
    grep -o 'TS2448' || true
  npx esbuild $name.ts --bundle --packages=external --format=esm --platform=node --outfile=$name.js --log-level=error
  node $name.js
done | tee output
diff output - <<'SEEN'
TS2448
value: ReferenceError
filter: /seeds?color=red
SEEN
