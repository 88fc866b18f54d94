#!/usr/bin/env bash
# TypeScript accepts an import of JSON as a record only with the stricter option exactOptionalPropertyTypes: with strict
# alone, valid data does not compile.
#
# Version: typescript 5.9.3.
# Rule: the documentation says that exactOptionalPropertyTypes applies stricter rules to optional properties.
# Expected: what compiles with it also compiles without it. Seen: each object in a list of a JSON module gets the members of
# the others as optional and undefined, which strict alone refuses as a member of Record<string, number> (TS2322).
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund typescript@5.9.3
echo '[{ "a": 1 }, { "b": 2 }]' >data.json
cat >check.ts <<'TS'
import data from './data.json' with { type: 'json' }
export const records: Record<string, number>[] = data
TS
compile() {
  npx tsc check.ts --noEmit --strict --module nodenext --resolveJsonModule "$@" | grep -o 'error TS[0-9]*' || echo 'no error'
}
{
  echo "strict: $(compile)"
  echo "with exactOptionalPropertyTypes: $(compile --exactOptionalPropertyTypes)"
} | tee output
diff output - <<'SEEN'
strict: error TS2322
with exactOptionalPropertyTypes: no error
SEEN
