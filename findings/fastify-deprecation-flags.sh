#!/usr/bin/env bash
# No flag of Node for deprecations concerns those of Fastify: a test run with --throw-deprecation stays green on a call
# that Fastify 6 removes, and --no-deprecation does not silence it.
#
# Version: fastify 5.12.8 (its process-warning has createDeprecation, but Fastify calls createWarning).
# Rule: nodejs.org/api/process.html, process.emitWarning: the flags --throw-deprecation, --no-deprecation and
# --trace-deprecation are for warnings of the type DeprecationWarning, as packages are told to emit them.
# Expected: like a DeprecationWarning of another package: exit code 1, no line, a line with a stack. Seen: the names are
# FastifyDeprecation and FastifyWarning, so exit code 0, one line each, no stack. --disable-warning=FSTDEP024 works.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund fastify@5.12.8
cat >fastify.js <<'JS'
import Fastify from 'fastify'

const app = Fastify({ requestIdLogLabel: 'id', caseSensitive: false })
await app.ready()
console.log('ready')
JS
cat >package.js <<'JS'
process.emitWarning('Old call', 'DeprecationWarning', 'OTHER001')
setImmediate(() => console.log('ready'))
JS
for program in fastify package; do
  for flag in --throw-deprecation --no-deprecation --trace-deprecation --disable-warning=FSTDEP024; do
    code=0
    node "$flag" "$program.js" >result 2>&1 || code=$?
    words='Deprecation[A-Za-z]+: |Fastify[A-Za-z]+: |(FSTDEP|OTHER)[0-9]+'
    names=$(grep -oE "$words" result | tr -d ': ' | sort -u | paste -sd' ')
    stack=$(grep -cE '^ +at ' result || true)
    echo "$program $flag: code $code, ready $(grep -c '^ready' result || true), stack $((stack > 0)), ${names:-none}"
  done
done | tee output
diff output - <<'SEEN'
fastify --throw-deprecation: code 0, ready 1, stack 0, FSTDEP022 FSTDEP024 FastifyDeprecation FastifyWarning
fastify --no-deprecation: code 0, ready 1, stack 0, FSTDEP022 FSTDEP024 FastifyDeprecation FastifyWarning
fastify --trace-deprecation: code 0, ready 1, stack 0, FSTDEP022 FSTDEP024 FastifyDeprecation FastifyWarning
fastify --disable-warning=FSTDEP024: code 0, ready 1, stack 0, FSTDEP022 FastifyWarning
package --throw-deprecation: code 1, ready 0, stack 1, DeprecationWarning OTHER001
package --no-deprecation: code 0, ready 1, stack 0, none
package --trace-deprecation: code 0, ready 1, stack 1, DeprecationWarning OTHER001
package --disable-warning=FSTDEP024: code 0, ready 1, stack 0, DeprecationWarning OTHER001
SEEN
