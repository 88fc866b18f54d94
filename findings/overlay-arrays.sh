#!/usr/bin/env bash
# Three tools make three documents of one overlay that changes arrays.
#
# Versions: openapi-format 1.33.6, bump-cli 2.11.0, oas_patch 0.6.0 (Python).
# Rule: OpenAPI Overlay 1.0.0, Action Object (`remove` removes each selected node; `update` of an array is an entry to
# append to it).
# Expected: tags [c], parameters [q, r]. Seen: oas_patch makes these. bump-cli merges the entry into the array, which
# becomes an object. openapi-format removes by index while the array shrinks, so it keeps an element that was selected
# and removes one that was not; it leaves the entry out, and says that all went well.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund openapi-format@1.33.6 bump-cli@2.11.0 yaml@2.8.1
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check oas_patch==0.6.0
cat >api.yaml <<'YAML'
openapi: 3.1.0
info: { title: Seeds, version: '1' }
tags:
  - { name: a, x-old: true }
  - { name: b, x-old: true }
  - { name: c }
paths:
  /seeds:
    get:
      parameters: [{ name: q, in: query }]
      responses: { '200': { description: Seeds } }
YAML
cat >overlay.yaml <<'YAML'
overlay: 1.0.0
info: { title: Changes, version: '1' }
actions:
  - { target: '$.tags[?@.x-old]', remove: true }
  - { target: "$.paths['/seeds'].get.parameters", update: { name: r, in: query } }
YAML
npx openapi-format api.yaml --overlayFile overlay.yaml --no-sort -o openapi-format.yaml >log 2>&1
npx bump overlay api.yaml overlay.yaml >bump-cli.yaml 2>>log
venv/bin/oas-patch overlay api.yaml overlay.yaml >oas_patch.yaml
cat >show.js <<'JS'
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

for (const tool of ['openapi-format', 'bump-cli', 'oas_patch']) {
  const { tags, paths } = parse(readFileSync(`${tool}.yaml`, 'utf8'))
  const { parameters } = paths['/seeds'].get
  console.log(`${tool}: tags ${tags.map(({ name }) => name)}, parameters ${JSON.stringify(parameters)}`)
}
JS
node show.js | tee output
diff output - <<'SEEN'
openapi-format: tags b, parameters [{"name":"q","in":"query"}]
bump-cli: tags c, parameters {"0":{"name":"q","in":"query"},"name":"r","in":"query"}
oas_patch: tags c, parameters [{"name":"q","in":"query"},{"name":"r","in":"query"}]
SEEN
