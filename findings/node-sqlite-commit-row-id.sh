#!/usr/bin/env bash
# StatementSync.run of node:sqlite throws for a statement that it has executed, when an earlier row id is beyond 2^53.
#
# Versions: Node 26.10.0; beside it Node 24.21.0.
# Rule: nodejs.org/api/sqlite.html, statement.run: `lastInsertRowid` is a number or a bigint; setReadBigInts is about rows.
# Expected: COMMIT has no row id of its own, so it returns, or it throws and has not committed. Seen: Node 26 commits and
# then throws ERR_OUT_OF_RANGE, because `run` reads the last row id of the connection. Node 24 returns a rounded number.
# exec, and run after setReadBigInts(true), do not throw.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
cat >commit.mjs <<'JS'
import { DatabaseSync } from 'node:sqlite'

const database = new DatabaseSync(':memory:')
database.exec('CREATE TABLE plants (id INTEGER PRIMARY KEY)')
const commit = database.prepare('COMMIT')
database.exec('BEGIN; INSERT INTO plants VALUES (9007199254740993)')
let outcome = 'returned'
try {
  commit.run()
} catch ({ code }) {
  outcome = code
}
const { plants } = database.prepare('SELECT count(*) AS plants FROM plants').get()
console.log(`Node ${process.versions.node}: ${outcome}, in a transaction: ${database.isTransaction}, plants: ${plants}`)
JS
for version in 24.21.0 26.10.0; do
  mkdir "$version"
  echo '{"allowScripts":{"node":true}}' >"$version/package.json"
  npm install --silent --no-audit --no-fund --prefix "$version" "node@$version"
  "$version/node_modules/node/bin/node" commit.mjs
done | tee output
diff output - <<'SEEN'
Node 24.21.0: returned, in a transaction: false, plants: 1
Node 26.10.0: ERR_OUT_OF_RANGE, in a transaction: false, plants: 1
SEEN
