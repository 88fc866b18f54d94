#!/usr/bin/env bash
# pydantic writes bounds into the JSON Schema as "ge" and "le", and loses a pattern, if a validator function stands before
# Field. It still enforces them, and the schema allows what it rejects.
#
# Version: pydantic 2.14.4.
# Rule: JSON Schema Validation 2020-12, section 6.2 (minimum, maximum), section 6.3.3 (pattern); core, section 6.5 (an
# unknown keyword is an annotation, so "ge" allows each number).
# Expected: the same schema with and without the function, since both models reject the same values. Seen: minLength and
# minItems survive, minimum and maximum become keywords that JSON Schema lacks, and pattern is left out. With Field before
# the function, all is right.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pydantic==2.14.4
cat >schema.py <<'PYTHON'
import json
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError


def same(value):
    return value


height = Field(ge=1, le=9)
code = Field(min_length=2, pattern="^[A-Z]+$")
tags = Field(min_length=1)
types = {
    "int": (Annotated[int, height], 0),
    "int, before": (Annotated[int, BeforeValidator(same), height], 0),
    "int, after": (Annotated[int, AfterValidator(same), height], 0),
    "int, Field first": (Annotated[int, height, BeforeValidator(same)], 0),
    "str": (Annotated[str, code], "ab"),
    "str, before": (Annotated[str, BeforeValidator(same), code], "ab"),
    "list, before": (Annotated[list[int], BeforeValidator(same), tags], []),
}
for name, (kind, invalid) in types.items():
    adapter = TypeAdapter(kind)
    try:
        adapter.validate_python(invalid)
        verdict = "accepts"
    except ValidationError:
        verdict = "rejects"
    print(f"{name}: {verdict} {invalid!r}, {json.dumps(adapter.json_schema(), sort_keys=True)}")
PYTHON
venv/bin/python schema.py | tee output
diff output - <<'SEEN'
int: rejects 0, {"maximum": 9, "minimum": 1, "type": "integer"}
int, before: rejects 0, {"ge": 1, "le": 9, "type": "integer"}
int, after: rejects 0, {"ge": 1, "le": 9, "type": "integer"}
int, Field first: rejects 0, {"maximum": 9, "minimum": 1, "type": "integer"}
str: rejects 'ab', {"minLength": 2, "pattern": "^[A-Z]+$", "type": "string"}
str, before: rejects 'ab', {"minLength": 2, "type": "string"}
list, before: rejects [], {"items": {"type": "integer"}, "minItems": 1, "type": "array"}
SEEN
