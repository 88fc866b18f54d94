#!/usr/bin/env bash
# tsc --incremental accepts modules that tsc rejects, once an augmentation of a package is removed.
#
# Versions: typescript 5.9.3, 6.0.3, 7.0.2.
# Rule: typescriptlang.org/tsconfig/incremental.html: the compiler saves the graph of the project to find the cheapest way
# to check it after changes. It must find the same errors.
# Expected: error TS2339 in handlers.ts, which uses a member that no module declares any more. Seen: exit 0. handlers.ts
# imports a type of "kit", which imports the augmented type of "request"; neither has changed, so handlers.ts is not checked.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{ "type": "module" }' >package.json
npm install --silent --no-audit --no-fund five@npm:typescript@5.9.3 six@npm:typescript@6.0.3 seven@npm:typescript@7.0.2
for name in request kit; do
  mkdir node_modules/$name
  echo '{ "types": "index.d.ts" }' >node_modules/$name/package.json
done
echo 'export interface Request { id: string }' >node_modules/request/index.d.ts
cat >node_modules/kit/index.d.ts <<'TS'
import type { Request } from 'request'
export type Given = Request
TS
cat >handlers.ts <<'TS'
import type { Given } from 'kit'
export const tenant = ({ tenant }: Given): string => tenant
TS
cat >tsconfig.json <<'JSON'
{
  "compilerOptions": { "strict": true, "module": "nodenext", "allowImportingTsExtensions": true, "noEmit": true, "types": [] },
  "files": ["app.ts"]
}
JSON
for name in five six seven; do
  cat >app.ts <<'TS'
import './handlers.ts'
declare module 'request' { interface Request { tenant: string } }
TS
  rm -f state
  node node_modules/$name/bin/tsc --incremental --tsBuildInfoFile state
  echo "import './handlers.ts'" >app.ts
  node node_modules/$name/bin/tsc --incremental --tsBuildInfoFile state && echo "$name: incremental check passed"
  node node_modules/$name/bin/tsc || echo "$name: check failed"
done | tee output
diff output - <<'SEEN'
five: incremental check passed
handlers.ts(2,26): error TS2339: Property 'tenant' does not exist on type 'Request'.
five: check failed
six: incremental check passed
handlers.ts(2,26): error TS2339: Property 'tenant' does not exist on type 'Request'.
six: check failed
seven: incremental check passed
handlers.ts(2,26): error TS2339: Property 'tenant' does not exist on type 'Request'.
seven: check failed
SEEN
