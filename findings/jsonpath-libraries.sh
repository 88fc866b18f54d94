#!/usr/bin/env bash
# Four JSONPath libraries return different nodes for five valid queries of RFC 9535, and none is right for all of them.
#
# Versions: json-p3 2.3.1, jsonpath-rfc9535 1.3.0, jsonpathly 3.0.0, jsonpath-js 0.3.1.
# Rules of RFC 9535: section 2.4.4 (length counts Unicode scalar values), section 2.5.2.2 (a node comes immediately
# before its descendants), section 2.3.5.2.2 (a <= b is true if a == b, which holds for two empty results), section 2.4.6
# (match compares the whole string, so each alternative of a pattern has both anchors) and section 2.3.1.2 (a name
# selects only a member of the object).
# Expected: the line "expected" of each query. Seen: all four count UTF-16 code units; jsonpath-rfc9535 lists the nodes
# of a descendant segment level by level, and anchors only the ends of the whole pattern; jsonpathly does not apply <= to
# two empty results; jsonpathly and jsonpath-js also select what an object inherits.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund json-p3@2.3.1 jsonpath-rfc9535@1.3.0 jsonpathly@3.0.0 jsonpath-js@0.3.1
cat >compare.js <<'JS'
import { jsonpath } from 'json-p3'
import { JSONPathJS } from 'jsonpath-js'
import { query as queryRfc9535 } from 'jsonpath-rfc9535'
import { query as queryPathly } from 'jsonpathly'

const libraries = {
  'json-p3': (query, value) => jsonpath.query(query, value).values(),
  'jsonpath-rfc9535': (query, value) => queryRfc9535(value, query),
  jsonpathly: (query, value) => queryPathly(value, query, { returnArray: true }),
  'jsonpath-js': (query, value) => new JSONPathJS(query).find(value),
}
const queries = [
  ['$[?length(@) == 1]', ['\u{1F331}'], ['\u{1F331}']],
  ['$..[0]', [[[1]], [2]], [[[1]], [1], 1, 2]],
  ['$[?@.seed <= @.leaf]', [{}], [{}]],
  ["$[?match(@, 'a|bc')]", ['a', 'ac', 'bc'], ['a', 'bc']],
  ['$.toString', {}, []],
]
const text = (value) => JSON.stringify(value, (_, each) => (typeof each === 'function' ? 'a function' : each))
for (const [query, value, expected] of queries) {
  console.log(`${query} of ${text(value)}`)
  console.log(`  expected: ${text(expected)}`)
  for (const [name, select] of Object.entries(libraries)) console.log(`  ${name}: ${text(select(query, value))}`)
}
JS
node compare.js | tee output
diff output - <<'SEEN'
$[?length(@) == 1] of ["🌱"]
  expected: ["🌱"]
  json-p3: []
  jsonpath-rfc9535: []
  jsonpathly: []
  jsonpath-js: []
$..[0] of [[[1]],[2]]
  expected: [[[1]],[1],1,2]
  json-p3: [[[1]],[1],1,2]
  jsonpath-rfc9535: [[[1]],[1],2,1]
  jsonpathly: [[[1]],[1],1,2]
  jsonpath-js: [[[1]],[1],1,2]
$[?@.seed <= @.leaf] of [{}]
  expected: [{}]
  json-p3: [{}]
  jsonpath-rfc9535: [{}]
  jsonpathly: []
  jsonpath-js: [{}]
$[?match(@, 'a|bc')] of ["a","ac","bc"]
  expected: ["a","bc"]
  json-p3: ["a","bc"]
  jsonpath-rfc9535: ["a","ac","bc"]
  jsonpathly: ["a","bc"]
  jsonpath-js: ["a","bc"]
$.toString of {}
  expected: []
  json-p3: []
  jsonpath-rfc9535: []
  jsonpathly: ["a function"]
  jsonpath-js: ["a function"]
SEEN
