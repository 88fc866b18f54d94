#!/usr/bin/env bash
# close() of two SQLite drivers leaves the file open while a prepared statement exists: its write-ahead log stays.
#
# Versions: @photostructure/sqlite 1.2.1, libsql 0.5.29; beside them @photostructure/sqlite 2.6.0.
# Rule: nodejs.org/api/sqlite.html, database.close: closes the connection. sqlite.org/wal.html: the last connection that
# closes removes the -wal and -shm files.
# Expected: the database file alone is left. Seen: its -wal and -shm files stay until the statement is garbage. Version 2 of
# the first driver, which does not support Node 20, and node:sqlite finalize the statements.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --silent --no-audit --no-fund first@npm:@photostructure/sqlite@1.2.1 libsql@0.5.29
npm install --silent --no-audit --no-fund --force second@npm:@photostructure/sqlite@2.6.0
cat >close.mjs <<'JS'
import { mkdirSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const drivers = {
  'photostructure 1.2.1': () => require('first').DatabaseSync,
  libsql: () => require('libsql'),
  'photostructure 2.6.0': () => require('second').DatabaseSync,
}
for (const [name, load] of Object.entries(drivers)) {
  const Database = load()
  mkdirSync(`data ${name}`)
  const database = new Database(`data ${name}/plants.db`)
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE plants (id INTEGER PRIMARY KEY)')
  const insert = database.prepare('INSERT INTO plants VALUES (1)')
  insert.run()
  database.close()
  console.log(`${name}: ${readdirSync(`data ${name}`).join(' ')}`)
}
JS
node close.mjs | tee output
diff output - <<'SEEN'
photostructure 1.2.1: plants.db plants.db-shm plants.db-wal
libsql: plants.db plants.db-shm plants.db-wal
photostructure 2.6.0: plants.db
SEEN
