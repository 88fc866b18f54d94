#!/usr/bin/env bash
# oasdiff reports a breaking change where a document of OpenAPI 3.0 becomes one of 3.1 and `nullable: true` becomes a union
# with null, also with --auto-upgrade, which brings both documents to the latest 3.x first.
#
# Version: oasdiff 1.37.0, built with Go.
# Rule: OpenAPI 3.0.4 section 4.7.24.1: `nullable: true` adds "null" to the type. JSON Schema 2020-12, core, section
# 10.2.1.2: anyOf accepts what one of its schemas accepts. Both schemas accept each text and null, and nothing else.
# Expected: no change. Seen: response-property-list-of-types-widened, an error. With `type: [string, "null"]` there is none.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
GOBIN="$directory" go install github.com/oasdiff/oasdiff@v1.37.0
document() {
  cat <<YAML
openapi: $1
info: {title: Boxes, version: 1.0.0}
paths:
  /boxes:
    get:
      responses:
        '200':
          description: The box.
          content:
            application/json:
              schema: {type: object, required: [note], properties: {note: $2}}
YAML
}
document 3.0.3 '{type: string, nullable: true}' >older.yaml
document 3.1.0 '{type: [string, "null"]}' >list.yaml
document 3.1.0 '{anyOf: [{type: string}, {type: "null"}]}' >union.yaml
for newer in list union; do
  echo "$newer: $(./oasdiff breaking --auto-upgrade --format singleline older.yaml "$newer.yaml" | grep -oE 'response-[a-z-]+' || echo none)"
done | tee output
diff output - <<'SEEN'
list: none
union: response-property-list-of-types-widened
SEEN
