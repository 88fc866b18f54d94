#!/usr/bin/env bash
# A Python client of OpenAPI Generator sends one date-time in two notations in one query: alone it has an offset without
# a colon, which RFC 3339 does not allow, and in a list the offset has the colon.
#
# Versions: openapi-generator-cli 7.25.0, generator python, with urllib3 2.8.0, pydantic 2.14.4, python-dateutil 4.0.0.
# Rule: OpenAPI 3.0.4, section 4.4: date-time is that of RFC 3339, section 5.6, where time-numoffset has a colon.
# Expected: +02:00 everywhere. Seen: +0200 for the single parameter, and +02:00 in the list, the header and the JSON body.
# A server that validates the format rejects the first one only.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
mvn --quiet --batch-mode dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 -DoutputDirectory=.
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
  urllib3==2.8.0 pydantic==2.14.4 python-dateutil==4.0.0 typing-extensions==4.16.0
cat >api.yaml <<'YAML'
openapi: 3.0.3
info: { title: Seeds, version: '1' }
paths:
  /seeds:
    post:
      operationId: addSeed
      parameters:
        - { name: since, in: query, schema: { $ref: '#/components/schemas/Time' } }
        - { name: times, in: query, schema: { type: array, items: { $ref: '#/components/schemas/Time' } } }
        - { name: X-Since, in: header, schema: { $ref: '#/components/schemas/Time' } }
      requestBody:
        content:
          application/json:
            schema: { type: object, properties: { since: { $ref: '#/components/schemas/Time' } } }
      responses: { '204': { description: Added } }
components: { schemas: { Time: { type: string, format: date-time } } }
YAML
java -jar openapi-generator-cli-7.25.0.jar generate -i api.yaml -g python -o client >log
cat >send.py <<'PYTHON'
import threading
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import unquote

import openapi_client


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        print(unquote(self.path.replace("?", "\n").replace("&", "\n")))
        print(self.headers["X-Since"])
        print(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
configuration = openapi_client.Configuration(host=f"http://127.0.0.1:{server.server_port}")
api = openapi_client.DefaultApi(openapi_client.ApiClient(configuration))
time = datetime(2026, 3, 4, 5, 6, 7, tzinfo=timezone(timedelta(hours=2)))
body = openapi_client.AddSeedRequest(since=time)
api.add_seed(since=time, times=[time, time], x_since=time, add_seed_request=body)
PYTHON
PYTHONPATH=client venv/bin/python send.py | tee output
diff output - <<'SEEN'
/seeds
since=2026-03-04T05:06:07.000000+0200
times=2026-03-04T05:06:07+02:00
times=2026-03-04T05:06:07+02:00
2026-03-04T05:06:07+02:00
{"since": "2026-03-04T05:06:07+02:00"}
SEEN
