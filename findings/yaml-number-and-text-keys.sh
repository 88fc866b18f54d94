#!/usr/bin/env bash
# The package yaml takes 404 and "404" for two keys of one map, also with uniqueKeys, and then keeps only one of them.
#
# Versions: yaml 2.9.1; beside it js-yaml 4.3.2.
# Rule: YAML 1.2.2 section 3.2.1.3 allows an integer and a string as different keys. JSON and a JavaScript object have
# only strings, so one value is lost. OpenAPI statuses are written in both ways.
# Expected: an error or a warning, as js-yaml has. Seen: none; the later value wins, and the document is shorter by one.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund yaml@2.9.1 js-yaml@4.3.2
cat >read.js <<'JS'
import { load } from 'js-yaml'
import { parseDocument } from 'yaml'

const text = '404: {description: Gone}\n"404": {description: Not here}\n'
const document = parseDocument(text, { uniqueKeys: true })
console.log('yaml', document.errors.length, document.warnings.length, document.contents.items.length)
console.log('yaml', JSON.stringify(document.toJS()))
try {
  console.log('js-yaml', JSON.stringify(load(text)))
} catch (error) {
  console.log('js-yaml', error.reason)
}
JS
node read.js | tee output
diff output - <<'SEEN'
yaml 0 0 2
yaml {"404":{"description":"Not here"}}
js-yaml duplicated mapping key
SEEN
