#!/usr/bin/env bash
# openapi-typescript fails in a project whose redocly.yaml is valid for the current Redocly: it brings Redocly 1, and reads
# the redocly.yaml of the directory although none is named. The document itself is not looked at.
#
# Versions: openapi-typescript 7.13.0, @redocly/cli 2.77.0.
# Expected: openapi-typescript ignores a configuration of another program, or reads what is in it for itself. Seen: redocly
# lint accepts the document; openapi-typescript writes nothing and names a rule set that Redocly 2 has and its own lacks.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{}' >package.json
npm install --silent --no-audit --no-fund @redocly/cli@2.77.0 openapi-typescript@7.13.0 typescript@5.9.3
cat >boxes.yaml <<'YAML'
openapi: 3.1.0
info: { title: Boxes, version: 1.0.0 }
paths: {}
components: { schemas: { Box: { type: string } } }
YAML
echo 'extends: [minimal, diff-recommended]' >redocly.yaml
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true NO_COLOR=1
npx redocly lint boxes.yaml >/dev/null 2>&1
echo "redocly lint: accepted"
npx openapi-typescript boxes.yaml --output boxes.d.ts >types.txt 2>&1 && status=0 || status=$?
grep -i 'diff-recommended' types.txt
test "$status" -ne 0
test ! -e boxes.d.ts
mv redocly.yaml elsewhere.yaml
npx openapi-typescript boxes.yaml --output boxes.d.ts >/dev/null 2>&1
grep -q 'Box: string' boxes.d.ts
