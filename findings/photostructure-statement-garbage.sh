#!/usr/bin/env bash
# A prepared statement of @photostructure/sqlite stops working when the garbage collector runs, if the program kept only
# the statement: it does not keep its database alive.
#
# Versions: @photostructure/sqlite 1.2.1 and 2.6.0, on Node 24.21.0; beside them its node:sqlite, whose interface they have.
# Rule: nodejs.org/api/sqlite.html, database.prepare: returns a statement; database.close closes the connection.
# ECMAScript 2025, section 9.9: what a program can reach is not collected.
# Expected: each of 50 statements returns its row after each of 20 collections. Seen: with both versions, some of them throw
# ERR_INVALID_STATE, "Database connection is closed" or "statement has been finalized", although the program has done
# neither. So a function that opens a database and returns a statement of it works until a collection.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --silent --no-audit --no-fund node@24.21.0 first@npm:@photostructure/sqlite@1.2.1
npm install --silent --no-audit --no-fund --force second@npm:@photostructure/sqlite@2.6.0
cat >statements.cjs <<'JS'
const { setTimeout: wait } = require('node:timers/promises')
const [name, load] = process.argv.slice(2)
const { DatabaseSync } = require(load)

const open = () => new DatabaseSync(':memory:').prepare('SELECT 7 AS height')
const statements = Array.from({ length: 50 }, open)
const failures = new Set()

async function main() {
  for (let collection = 0; collection < 20; collection++) {
    await wait(10)
    globalThis.gc()
    for (const statement of statements)
      try {
        if (statement.get().height !== 7) failures.add('another row')
      } catch (error) {
        failures.add(`${error.code}: ${error.message}`)
      }
  }
  console.log(`${name}: ${[...failures].join(', ') || 'all rows'}`)
}

main()
JS
{
  npx node --expose-gc statements.cjs 'photostructure 1.2.1' first
  npx node --expose-gc statements.cjs 'photostructure 2.6.0' second
  npx node --expose-gc --disable-warning=ExperimentalWarning statements.cjs node:sqlite node:sqlite
} | tee output
diff output - <<'SEEN'
photostructure 1.2.1: ERR_INVALID_STATE: Database connection is closed
photostructure 2.6.0: ERR_INVALID_STATE: statement has been finalized
node:sqlite: all rows
SEEN
