#!/usr/bin/env bash
# Schemathesis reports a protected operation as open if its Authorization header is given in lowercase.
#
# Versions: schemathesis 4.32.5, Python 3.10 or newer.
# Rule: RFC 9110, section 5.1 (field names are case-insensitive).
# Expected: the same verdict for each spelling. Seen: with `--header 'authorization: …'` the check ignored_auth, which
# sends the request without credentials, finds a 200 of a server that responds 401 without them; with `Authorization`
# it passes. So the header that the user gave seems to stay in the request that is meant to have none.
set -eu
directory=$(mktemp -d)
cleanup() {
  [ -z "${server:-}" ] || kill "$server" || true
  rm -rf "$directory"
}
trap cleanup EXIT
cd "$directory"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check schemathesis==4.32.5
cat >api.json <<'JSON'
{
  "openapi": "3.0.3",
  "info": { "title": "Seeds", "version": "1" },
  "components": { "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } } },
  "paths": {
    "/seed": {
      "get": {
        "security": [{ "token": [] }],
        "responses": { "200": { "description": "Known" }, "401": { "description": "Unknown" } }
      }
    }
  }
}
JSON
cat >server.py <<'PYTHON'
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        known = self.headers.get("Authorization") == "Bearer known"
        self.send_response(200 if known else 401)
        if not known:
            self.send_header("WWW-Authenticate", "Bearer")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open("port", "w") as file:
    file.write(str(server.server_port))
server.serve_forever()
PYTHON
python3 server.py &
server=$!
until [ -s port ]; do sleep 0.1; done
for name in Authorization authorization; do
  status=0
  venv/bin/st run api.json --url "http://127.0.0.1:$(cat port)" --checks ignored_auth --seed 1 --no-color \
    --header "$name: Bearer known" >report || status=$?
  echo "$name: exit code $status, $(grep -c 'API accepts requests without authentication$' report || true) report"
done | tee output
diff output - <<'SEEN'
Authorization: exit code 0, 0 report
authorization: exit code 1, 1 report
SEEN
