#!/usr/bin/env bash
# Ajv does not count what `contains` and a bare `if` evaluate (JSON Schema 2020-12), in both directions.
#
# Versions: ajv 8.20.0; beside it @hyperjump/json-schema 1.18.0 and @exodus/schemasafe 1.3.0.
# Rule: JSON Schema Core 2020-12, sections 10.3.1.3 and 11.2 (`contains` evaluates the items that it matches, only these),
# section 10.2.2.1 with 11.3 (a valid `if` counts as evaluated, with or without `then`).
# Expected: the three agree. Seen: Ajv takes one matching item for all items, and forgets the members that `if` matched
# when no keyword stands in `then`.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund ajv@8.20.0 @hyperjump/json-schema@1.18.0 @exodus/schemasafe@1.3.0
cat >compare.js <<'JS'
import { validator } from '@exodus/schemasafe'
import { registerSchema, validate } from '@hyperjump/json-schema/draft-2020-12'
import Ajv from 'ajv/dist/2020.js'

const $schema = 'https://json-schema.org/draft/2020-12/schema'
const text = { contains: { type: 'string' }, unevaluatedItems: false }
const bare = { if: { properties: { a: { const: 1 } } }, unevaluatedProperties: false }
const empty = { ...bare, if: { ...bare.if, required: ['a'] }, then: {} }
const cases = [
  ['contains', text, ['a', 'b']],
  ['contains', text, ['a', 1]],
  ['bare if', bare, { a: 1 }],
  ['bare if', bare, { b: 1 }],
  ['empty then', empty, { a: 1 }],
]
const ajv = new Ajv.default({ strict: false })
for (const [index, [name, schema, value]] of cases.entries()) {
  registerSchema({ $schema, ...schema }, `https://example.com/${index}`)
  const { valid } = await validate(`https://example.com/${index}`, value)
  const second = validator({ $schema, ...schema }, { mode: 'lax' })(value)
  console.log(`${name} ${JSON.stringify(value)}: ajv ${ajv.validate(schema, value)}, hyperjump ${valid}, schemasafe ${second}`)
}
JS
node compare.js | tee output
diff output - <<'SEEN'
contains ["a","b"]: ajv true, hyperjump true, schemasafe true
contains ["a",1]: ajv true, hyperjump false, schemasafe false
bare if {"a":1}: ajv false, hyperjump true, schemasafe true
bare if {"b":1}: ajv false, hyperjump false, schemasafe false
empty then {"a":1}: ajv false, hyperjump true, schemasafe true
SEEN
