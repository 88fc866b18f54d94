#!/usr/bin/env bash
# redocly diff calls a query parameter removed, a major change, when its description changes enough.
#
# Version: @redocly/cli 2.77.0.
# Rule: OpenAPI 3.1.1 section 4.8.12: a unique parameter is defined by its name and location. The command pairs the items
# of a list by the similarity of their text instead, so a long description makes two parameters of one.
# Expected: no major change, since `deprecated` and a description break no client. Seen: "`team` query parameter was
# removed", and a parameter that is added.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{}' >package.json
npm install --silent --no-audit --no-fund @redocly/cli@2.77.0
cat >older.yaml <<'YAML'
openapi: 3.1.0
info: {title: Boxes, version: 1.0.0}
paths:
  /boxes:
    get:
      parameters:
        - {name: team, in: query, schema: {type: string}, description: The team.}
      responses:
        '204': {description: Done.}
YAML
sed 's/description: The team\./deprecated: true, description: "Use the memberships of a team instead, which list all of the boxes that the team has made or got."/' \
  older.yaml >newer.yaml
echo 'extends: [diff-recommended]' >redocly.yaml
REDOCLY_TELEMETRY=off npx redocly diff older.yaml newer.yaml --format=json --fail-on=none 2>/dev/null |
  grep -E '"kind"|"message"' | tee output
diff -w output - <<'SEEN'
"kind": "removed",
"message": "`team` query parameter was removed.",
"kind": "added",
SEEN
