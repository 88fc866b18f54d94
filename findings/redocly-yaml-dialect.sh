#!/usr/bin/env bash
# The YAML parser inside @redocly/cli reads fewer documents than js-yaml and yaml: a closing bracket at the column of its
# key, and a merged key "404" that an unquoted 404 overrides.
#
# Versions: @redocly/cli 2.77.0; beside it js-yaml 4.3.2 and yaml 2.9.1.
# Rule: YAML 1.1 merge key type (an explicit key wins over a merged one). YAML 1.2.2 asks flow lines to be indented, so the
# bracket is lenient reading; every other parser that was tried accepts it, and formatters write it.
# Expected: all three read both documents. Seen: Redocly says "deficient indentation" and "duplicated mapping key".
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund @redocly/cli@2.77.0 js-yaml@4.3.2 yaml@2.9.1
cat >bracket.yaml <<'YAML'
openapi: 3.1.0
info: {title: Boxes, version: 1.0.0}
paths:
  /boxes:
    get:
      tags: [
        boxes
      ]
      responses:
        '200': {description: The boxes.}
YAML
cat >merge.yaml <<'YAML'
openapi: 3.1.0
info: {title: Boxes, version: 1.0.0}
x-errors: &errors
  '404': {description: Not found.}
paths:
  /boxes:
    get:
      responses:
        <<: *errors
        404: {description: No box has this number.}
YAML
cat >read.js <<'JS'
import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { parse } from 'yaml'

for (const name of ['bracket', 'merge']) {
  const text = readFileSync(`${name}.yaml`, 'utf8')
  for (const document of [load(text), parse(text, { merge: true })]) {
    const { tags, responses } = document.paths['/boxes'].get
    console.log(name, JSON.stringify(tags), JSON.stringify(responses))
  }
}
JS
{
  node read.js
  for name in bracket merge; do
    REDOCLY_TELEMETRY=off NO_COLOR=1 npx redocly bundle "$name.yaml" 2>&1 | grep -oE 'deficient indentation|duplicated mapping key'
  done
} | tee output
diff output - <<'SEEN'
bracket ["boxes"] {"200":{"description":"The boxes."}}
bracket ["boxes"] {"200":{"description":"The boxes."}}
merge undefined {"404":{"description":"No box has this number."}}
merge undefined {"404":{"description":"No box has this number."}}
deficient indentation
duplicated mapping key
SEEN
