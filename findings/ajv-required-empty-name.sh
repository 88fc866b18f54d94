#!/usr/bin/env bash
# Ajv accepts an object without the member "" although `required` lists it, in draft-07 and 2020-12.
#
# Version: ajv 8.20.0; beside it @cfworker/json-schema 4.1.6, jsonschema 1.5.0 and @exodus/schemasafe 1.3.0.
# Rule: JSON Schema Validation section 6.5.3: any string may be listed, and "" is a valid name (RFC 8259 section 4).
# Expected: {} is invalid. Seen: valid when "" stands alone, and also beside other names; a description of the member
# in `properties` does not change it.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund ajv@8.20.0 @cfworker/json-schema@4.1.6 jsonschema@1.5.0 @exodus/schemasafe@1.3.0
cat >compare.js <<'JS'
import { Validator } from '@cfworker/json-schema'
import { validator } from '@exodus/schemasafe'
import Ajv from 'ajv'
import Ajv2020 from 'ajv/dist/2020.js'
import jsonschema from 'jsonschema'

const cases = [
  [{ required: [''] }, {}],
  [{ required: ['', 'a'] }, { a: 1 }],
  [{ properties: { '': { type: 'number' } }, required: [''] }, {}],
  [{ required: ['a'] }, {}],
]
for (const [schema, value] of cases) {
  const results = {
    ajv: new Ajv.default({ strict: false }).validate(schema, value),
    ajv2020: new Ajv2020.default({ strict: false }).validate(schema, value),
    cfworker: new Validator(schema).validate(value).valid,
    jsonschema: new jsonschema.Validator().validate(value, schema).valid,
    schemasafe: validator(schema, { mode: 'lax', $schemaDefault: 'https://json-schema.org/draft/2020-12/schema' })(value),
  }
  console.log(JSON.stringify(schema), JSON.stringify(value), JSON.stringify(results))
}
JS
node compare.js | tee output
diff output - <<'SEEN'
{"required":[""]} {} {"ajv":true,"ajv2020":true,"cfworker":false,"jsonschema":false,"schemasafe":false}
{"required":["","a"]} {"a":1} {"ajv":true,"ajv2020":true,"cfworker":false,"jsonschema":false,"schemasafe":false}
{"properties":{"":{"type":"number"}},"required":[""]} {} {"ajv":true,"ajv2020":true,"cfworker":false,"jsonschema":false,"schemasafe":false}
{"required":["a"]} {} {"ajv":false,"ajv2020":false,"cfworker":false,"jsonschema":false,"schemasafe":false}
SEEN
