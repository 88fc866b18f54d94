#!/usr/bin/env bash
# openapi-typescript follows a reference to a response one step only: a response behind two references has no content in
# the types, so that code cannot use its body.
#
# Version: openapi-typescript 7.13.0.
# Rule: OpenAPI 3.1 section 4.8.7: each component may be a Reference Object; section 4.8.23 sets no limit to the steps.
# Expected: both operations have the content text/plain. Seen: only the one that refers to Second has it.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund openapi-typescript@7.13.0 typescript@5.9.3
cat >document.json <<'JSON'
{
  "openapi": "3.1.0",
  "info": { "title": "Boxes", "version": "1.0.0" },
  "paths": {
    "/direct": { "get": { "responses": { "200": { "$ref": "#/components/responses/Second" } } } },
    "/alias": { "get": { "responses": { "200": { "$ref": "#/components/responses/Alias" } } } }
  },
  "components": {
    "responses": {
      "Alias": { "$ref": "#/components/responses/Second" },
      "Second": { "description": "A text.", "content": { "text/plain": { "schema": { "type": "string" } } } }
    }
  }
}
JSON
npx openapi-typescript document.json -o types.d.ts >/dev/null 2>&1
cat >use.ts <<'TS'
import type { paths } from './types.js'

type Body<Path extends keyof paths> = paths[Path]['get'] extends { responses: { 200: { content: { 'text/plain': infer Text } } } }
  ? Text
  : 'no content'
export const direct: Body<'/direct'> = 'a text'
export const alias: Body<'/alias'> = 'a text'
TS
npx tsc --strict --noEmit --module nodenext --moduleResolution nodenext use.ts >output 2>&1 || true
cat output
grep -c 'error TS' output | diff - <(echo 1)
grep -q "use.ts(7,14): error TS2322: Type '\"a text\"' is not assignable to type '\"no content\"'" output
