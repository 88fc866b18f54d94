#!/usr/bin/env bash
# A client of openapi-python-client writes true and null in a URL-encoded form, as a server reads them, and True and None in
# a multipart form. An object in the URL-encoded form is the text of a Python dictionary, with single quotes.
#
# Version: openapi-python-client 0.29.1, with httpx 0.28.1 and attrs 26.1.0.
# Rule: OpenAPI 3.1.1, sections 4.8.15.1.1 and 4.8.15.3: by default, an object in a form is JSON, also in a URL-encoded one,
# and a boolean is text/plain, such as its JSON text.
# Expected: one text for each value in both forms, and JSON for the object. Seen: as below; in multipart, the object is JSON.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check openapi-python-client==0.29.1 httpx==0.28.1 attrs==26.1.0
cat >api.yaml <<'YAML'
openapi: 3.1.1
info: { title: Seeds, version: '1' }
paths:
  /form:
    post:
      operationId: sendForm
      requestBody: { content: { application/x-www-form-urlencoded: { schema: { $ref: '#/components/schemas/Seed' } } } }
      responses: { '204': { description: Received } }
  /parts:
    post:
      operationId: sendParts
      requestBody: { content: { multipart/form-data: { schema: { $ref: '#/components/schemas/Seed' } } } }
      responses: { '204': { description: Received } }
components:
  schemas:
    Size: { type: object, properties: { height: { type: integer } } }
    Seed:
      type: object
      properties:
        sold: { type: boolean }
        note: { type: [string, 'null'] }
        size: { $ref: '#/components/schemas/Size' }
YAML
venv/bin/openapi-python-client generate --path api.yaml --output-path seeds --meta none >log 2>&1
cat >send.py <<'PYTHON'
import re
from urllib.parse import parse_qsl

import httpx

from seeds import Client
from seeds.api.default import send_form, send_parts
from seeds.models import Seed, Size


def receive(request):
    body = request.read().decode()
    if request.url.path == "/form":
        values = parse_qsl(body, keep_blank_values=True)
    else:
        values = re.findall(r'; name="(\w+)"(?:\r\n.+)*\r\n\r\n(.*)\r\n', body)
    for name, value in values:
        print(f"{request.url.path} {name}: {value}")
    return httpx.Response(204)


client = Client(base_url="http://localhost")
client.set_httpx_client(httpx.Client(base_url="http://localhost", transport=httpx.MockTransport(receive)))
seed = Seed(sold=True, note=None, size=Size(height=3))
for operation in [send_form, send_parts]:
    operation.sync_detailed(client=client, body=seed)
PYTHON
venv/bin/python send.py | sed 's/ *$//' | tee output
diff output - <<'SEEN'
/form sold: true
/form note:
/form size: {'height': 3}
/parts sold: True
/parts note: None
/parts size: {"height": 3}
SEEN
