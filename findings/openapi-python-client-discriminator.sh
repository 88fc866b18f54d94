#!/usr/bin/env bash
# openapi-python-client reads a response of the kind "dog" as a Cat: it ignores the discriminator and takes the first class
# that reads the object. It does so without a warning, and the dog's own property becomes an additional one.
#
# Version: openapi-python-client 0.29.1, with httpx 0.28.1 and attrs 26.1.0.
# Rule: OpenAPI 3.1.1, section 4.8.25: the property that the discriminator names, and its mapping, say which schema describes
# the object.
# Expected: Dog, whose `born` is a datetime. Seen: Cat, in which `born` is a string among the additional properties. If the
# document lists Dog before Cat, the class is Dog, and so is that of a cat: {"kind": "cat"} then is a Dog.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check openapi-python-client==0.29.1 httpx==0.28.1 attrs==26.1.0
for order in Cat,Dog Dog,Cat; do
  first=${order%,*} second=${order#*,}
  cat >api.yaml <<YAML
openapi: 3.1.1
info: { title: Pets, version: '1' }
paths:
  /pet:
    get:
      operationId: getPet
      responses:
        '200':
          description: A pet.
          content: { application/json: { schema: { \$ref: '#/components/schemas/Pet' } } }
components:
  schemas:
    Pet:
      oneOf: [{ \$ref: '#/components/schemas/$first' }, { \$ref: '#/components/schemas/$second' }]
      discriminator: { propertyName: kind, mapping: { cat: '#/components/schemas/Cat', dog: '#/components/schemas/Dog' } }
    Cat: { type: object, required: [kind], properties: { kind: { type: string } } }
    Dog: { type: object, required: [kind], properties: { kind: { type: string }, born: { type: string, format: date-time } } }
YAML
  venv/bin/openapi-python-client generate --path api.yaml --output-path "pets_$first" --meta none >log 2>&1
  if grep -qi 'discriminator' log; then echo 'a warning'; fi
  cat >read.py <<PYTHON
import httpx

from pets_$first import Client
from pets_$first.api.default import get_pet

for pet in [{"kind": "cat"}, {"kind": "dog", "born": "2026-01-02T03:04:05Z"}]:
    client = Client(base_url="http://localhost")
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=pet))
    client.set_httpx_client(httpx.Client(base_url="http://localhost", transport=transport))
    read = get_pet.sync(client=client)
    born = getattr(read, "born", None) or read.additional_properties.get("born")
    print("$order:", read.kind, "is a", type(read).__name__, "born" in pet and type(born).__name__ or "")
PYTHON
  venv/bin/python read.py
done | sed 's/ *$//' | tee output
diff output - <<'SEEN'
Cat,Dog: cat is a Cat
Cat,Dog: dog is a Cat str
Dog,Cat: cat is a Dog
Dog,Cat: dog is a Dog datetime
SEEN
