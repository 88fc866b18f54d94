#!/usr/bin/env bash
# A stat of a file makes the next write with an fsync to it slower, on ext4 since Linux 6.13.
#
# Versions: Linux 6.18.44, ext4, Node 20.20.2.
# Rule: docs.kernel.org/filesystems/multigrain-ts.html: a change of a file gets a fine-grained time only if the times
# were queried since the last change.
# Expected: a stat only reads. Seen: it makes the next write change the times of the inode, which otherwise happens once
# in a tick of 1 to 4 ms, so fsync also commits the journal: 128 us instead of 87 us. A stat of the directory costs
# nothing.
set -eu
file=$(mktemp -p "${1:-.}")
trap 'rm -f "$file"' EXIT
node - "$file" <<'JS'
const { fsyncSync, openSync, statSync, writeSync } = require('node:fs')
const { dirname } = require('node:path')

const path = process.argv[2]
const file = openSync(path, 'w')
const page = Buffer.alloc(4096, 1)
const count = 2_000
const medians = []
for (let n = 0; n < count; n++) writeSync(file, page, 0, page.length, n * page.length)
fsyncSync(file)
for (const [what, look] of [
  ['no stat', () => {}],
  ['stat of the directory', () => statSync(dirname(path))],
  ['stat of the file', () => statSync(path)],
]) {
  const times = []
  for (let n = 0; n < count; n++) {
    look()
    const start = performance.now()
    writeSync(file, page, 0, page.length, n * page.length)
    fsyncSync(file)
    times.push(performance.now() - start)
  }
  const median = times.sort((a, b) => a - b)[count / 2]
  medians.push(median)
  console.log(`${what}: ${Math.round(1_000 * median)} us`)
}
const [none, ofDirectory, ofFile] = medians
if (ofFile < 1.2 * none || ofDirectory > 1.2 * none) process.exit(1)
JS
