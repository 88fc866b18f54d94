"""Runs a client that is a Python module: python run_cases.py MODULE DOCUMENT CASES BASE_URL CONTROL_URL.

The module has `connect(base_url, document)`, which returns a function. The function sends a case and returns the members
of its line, or None if the client lacks the operation. If it raises an error, the line has only the message.
"""

import base64
import datetime
import enum
import importlib
import json
import sys
import urllib.parse
import urllib.request
import uuid
from dataclasses import dataclass


@dataclass
class File:
    name: str
    type: str
    text: str


def plain(value):
    """Returns a value of cases.json as a client in Python gets it."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    tag, content = next(iter(value.items()), (None, None))
    if tag == "$int64":
        return int(content)
    if tag == "$date":
        return datetime.date.fromisoformat(content)
    if tag == "$dateTime":
        return datetime.datetime.fromisoformat(content)
    if tag == "$bytes":
        return base64.b64decode(content)
    if tag == "$file":
        return File(**content)
    return {name: plain(member) for name, member in value.items()}


def json_ready(value):
    """Returns a value in the form that `json` writes, as users write it by hand."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, (uuid.UUID, enum.Enum)):
        return str(value.value if isinstance(value, enum.Enum) else value)
    if isinstance(value, (list, tuple)):
        return [json_ready(item) for item in value]
    if isinstance(value, dict):
        return {name: json_ready(member) for name, member in value.items()}
    return value


def json_lines(items):
    """Returns a body of JSON Lines."""
    return "".join(json.dumps(json_ready(item)) + "\n" for item in items)


def main(module, document_file, cases_file, base_url, control_url):
    with open(document_file, encoding="utf-8") as file:
        document = json.load(file)
    with open(cases_file, encoding="utf-8") as file:
        cases = json.load(file)
    send = importlib.import_module(module).connect(base_url, document)
    for each in cases:
        named = {"operation": each["operation"], "case": each["case"]}
        urllib.request.urlopen(f"{control_url}/{each['operation']}/{urllib.parse.quote(each['case'])}").close()
        try:
            members = send(each)
            if members is None:
                continue
            line = {**named, "sent": True, **members}
            text = json.dumps({name: printable(member) for name, member in line.items() if member is not None})
        except Exception as error:
            name = type(error).__name__
            text = json.dumps({**named, "sent": False, "error": f"{name}: {error}"})
        print(text, flush=True)


def printable(value):
    """Returns what a client returned in a form that JSON carries."""
    if isinstance(value, (bytes, bytearray)):
        return {"$bytes": base64.b64encode(value).decode()}
    if isinstance(value, (list, tuple)):
        return [printable(item) for item in value]
    if isinstance(value, dict):
        return {name: printable(member) for name, member in value.items()}
    return json_ready(value)


if __name__ == "__main__":
    main(*sys.argv[1:])
