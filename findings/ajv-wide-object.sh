#!/usr/bin/env bash
# Ajv cannot compile a flat object with some thousand properties: each property is compiled inside the success of the one
# before it, so the number of properties, not the depth of the schema, is the depth of its recursion. With allErrors, which
# compiles the properties one after the other, the same schema compiles.
#
# Version: ajv 8.20.0, with the stack of Node.js as it is (984 KiB).
# Expected: the width of an object is limited by memory. Seen: RangeError "Maximum call stack size exceeded" for 5,000
# properties of type string; with allErrors: true they compile.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund ajv@8.20.0
cat >wide.js <<'JS'
import { Ajv } from 'ajv'

const properties = {}
for (let number = 0; number < 5_000; number++) properties[`property${number}`] = { type: 'string' }
for (const allErrors of [false, true]) {
  try {
    const validate = new Ajv({ allErrors }).compile({ type: 'object', properties })
    console.log(`allErrors ${allErrors}: ${validate({ property7: 'a' })}, ${validate({ property7: 7 })}`)
  } catch (error) {
    console.log(`allErrors ${allErrors}: ${error.name}: ${error.message}`)
  }
}
JS
seen=$(node wide.js)
echo "$seen"
test "$seen" = 'allErrors false: RangeError: Maximum call stack size exceeded
allErrors true: true, false'
