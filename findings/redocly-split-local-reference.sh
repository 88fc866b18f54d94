#!/usr/bin/env bash
# redocly split breaks a document: a reference to an operation's own response leads nowhere in the files that it writes.
#
# Version: @redocly/cli 2.77.0.
# Rule: RFC 3986 section 4.4 and OpenAPI 3.1.1 section 4.8.23: `#/paths/…` is relative to the file that has the reference.
# Expected: a reference to paths/things.yaml, as split writes references to components. Seen: `#/paths/…` is copied into
# paths/others.yaml, which has no paths. split says "successfully split" and exits with 0, and bundle, which read the
# first document, rejects the result.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{}' >package.json
npm install --silent --no-audit --no-fund @redocly/cli@2.77.0
cat >things.yaml <<'YAML'
openapi: 3.1.0
info: {title: Things, version: 1.0.0}
paths:
  /things:
    get:
      responses:
        '200': {description: The things.}
  /others:
    get:
      responses:
        '200': {$ref: '#/paths/~1things/get/responses/200'}
YAML
export REDOCLY_TELEMETRY=off
npx redocly bundle things.yaml --output whole.yaml >/dev/null 2>&1
npx redocly split things.yaml --outDir parts 2>/dev/null
cat parts/paths/others.yaml | tee output
diff output - <<'SEEN'
get:
  responses:
    '200':
      $ref: '#/paths/~1things/get/responses/200'
SEEN
! npx redocly bundle parts/openapi.yaml --output again.yaml >/dev/null 2>&1
