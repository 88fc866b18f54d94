#!/usr/bin/env bash
# Redocly and openapi-typescript refuse a valid JSON document of a few kilobytes whose schemas are nested 60 levels deep:
# both read JSON with js-yaml, which counts levels of values and stops after 100. Each nested property is two levels, so
# about 45 of them are the limit. js-yaml 4.1 had no such limit; 4.3 has it by default, in a range that both accept.
#
# Versions: @redocly/cli 2.77.0, openapi-typescript 7.13.0 with js-yaml 4.3.2, and with js-yaml 4.1.0.
# Expected: the depth of a valid document is limited by the stack, at thousands of levels. Seen: "nesting exceeded maxDepth
# (100)" from both; with js-yaml 4.1.0 openapi-typescript writes the types of all 60 levels.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"overrides":{"js-yaml":"4.3.2"}}' >package.json
npm install --silent --no-audit --no-fund @redocly/cli@2.77.0 openapi-typescript@7.13.0 typescript@5.9.3
cat >write.mjs <<'JS'
import { writeFileSync } from 'node:fs'

let schema = { type: 'string' }
for (let level = 60; level > 0; level--) schema = { type: 'object', properties: { [`level${level}`]: schema } }
const document = { openapi: '3.1.0', info: { title: 'Boxes', version: '1.0.0' }, paths: {}, components: { schemas: { Box: schema } } }
writeFileSync('boxes.json', JSON.stringify(document))
JS
node write.mjs
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true NO_COLOR=1
reason() { grep -o 'nesting exceeded maxDepth ([0-9]*)' "$1" | head -n 1; }
npx redocly lint boxes.json --extends=minimal >lint.txt 2>&1 && status=0 || status=$?
echo "redocly lint: $(reason lint.txt)"
test "$status" -ne 0
npx openapi-typescript boxes.json --output boxes.d.ts >types.txt 2>&1 && status=0 || status=$?
echo "openapi-typescript: $(reason types.txt)"
test "$status" -ne 0
for seen in lint.txt types.txt; do test "$(reason $seen)" = 'nesting exceeded maxDepth (100)'; done
rm -rf node_modules package-lock.json
echo '{"overrides":{"js-yaml":"4.1.0"}}' >package.json
npm install --silent --no-audit --no-fund openapi-typescript@7.13.0 typescript@5.9.3
npx openapi-typescript boxes.json --output boxes.d.ts >/dev/null 2>&1
echo "with js-yaml 4.1.0, levels in the types: $(grep -c 'level[0-9]*?:' boxes.d.ts)"
test "$(grep -c 'level[0-9]*?:' boxes.d.ts)" -eq 60
