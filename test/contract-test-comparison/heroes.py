"""Serves the SQL tutorial of FastAPI on a free port of 127.0.0.1, with the fault that the variable FAULT names.

heroes.py TUTORIAL [--unmended]            serves the tutorial
heroes.py TUTORIAL --document [--unmended] prints its OpenAPI document

The document of the tutorial does not list 404 and 400, and allows integers that SQLite cannot store and null in columns
that cannot be null; the tutorial accepts numbers in strings, and its Allow header lists one method of each path. The
replacements below mend this.
"""

import json
import os
import socket
import sys
import types

import uvicorn
from sqlalchemy import event

path, *options = sys.argv[1:]
fault = os.environ.get("FAULT", "")
is_mended = "--unmended" not in options

# JSON Schema of pydantic has bounds as floats, which hold these exactly.
BOUNDS = "ge=-(2**53) + 1, le=2**53 - 1"
AGE = f"    age: Annotated[int, PydanticField({BOUNDS}), BeforeValidator(exact)] | None = None\n"
# 1.0 is an integer for JSON Schema, but "1" and true are none.
EXACT = """
from pydantic import BeforeValidator, Field as PydanticField


def exact(value):
    if isinstance(value, (bool, str)):
        raise ValueError("must be a number")
    return value

"""
MENDED = [
    ("import Depends, FastAPI,", "import Depends, FastAPI, Path,"),
    ("\n\nclass HeroBase", f"{EXACT}\nclass HeroBase"),
    ("FastAPI()", 'FastAPI(responses={400: {"description": "Error"}, 404: {"description": "Error"}})'),
    ("class HeroCreate(HeroBase):\n", f"class HeroCreate(HeroBase):\n{AGE}"),
    ("    name: str | None = None\n    age: int | None = None\n", f'    name: str = ""\n{AGE}'),
    ("    secret_name: str | None = None\n", '    secret_name: str = ""\n'),
    ("hero_id: int", f"hero_id: Annotated[int, Path({BOUNDS})]"),
    ("offset: int = 0", "offset: Annotated[int, Query(ge=0, le=2**53 - 1)] = 0"),
    ("Query(le=100)", "Query(ge=0, le=100)"),
]
RETURNED = '    from fastapi.responses import JSONResponse\n    return JSONResponse({"name": db_hero.name, %s})\n'
FAULTS = {
    "long-name-error": ("    db_hero = Hero.", "    assert len(hero.name) < 60\n    db_hero = Hero."),
    "limit-unchecked": ("Query(ge=0, le=100)", "Query(ge=0)"),
    "deleted-readable": ("    session.delete(hero)\n", ""),
    "wrong-type": ("    return db_hero\n", RETURNED % '"id": str(db_hero.id)'),
    "missing-property": ("    return db_hero\n", RETURNED % '"age": db_hero.age'),
}


if fault and fault not in FAULTS:
    raise SystemExit(f"FAULT: heroes has no fault {fault!r}; use {', '.join(FAULTS)}")


def tutorial():
    """Runs the source of the tutorial with the replacements, and returns its module."""
    with open(path, encoding="utf-8") as file:
        source = file.read()
    for old, new in [*(MENDED if is_mended else []), *([FAULTS[fault]] if fault else [])]:
        if old not in source:
            raise SystemExit(f"heroes.py: the tutorial has no {old!r}; update the replacements")
        source = source.replace(old, new)
    module = types.ModuleType("tutorial")
    sys.modules["tutorial"] = module
    exec(compile(source, path, "exec"), module.__dict__)
    return module


module = tutorial()
app = module.app
if "--document" in options:
    print(json.dumps(app.openapi()))
    raise SystemExit


@event.listens_for(module.engine, "connect")
def skip_syncs(connection, _record):
    """Leaves out fsync, whose time depends on the disk of the machine rather than on the tools."""
    connection.execute("PRAGMA synchronous = OFF")


@app.middleware("http")
async def complete_allow(request, call_next):
    """Lists all methods of a path in Allow (RFC 9110 section 10.2.1)."""
    response = await call_next(request)
    if response.status_code == 405 and is_mended:
        response.headers["allow"] = "GET, POST" if request.url.path == "/heroes/" else "DELETE, GET, PATCH"
    return response


# asyncio sets TCP_NODELAY only if the protocol is named; without it, a response on a kept connection takes 40 ms.
listener = socket.socket(proto=socket.IPPROTO_TCP)
listener.bind(("127.0.0.1", 0))
# Requests that arrive before the application has started wait.
listener.listen()
print(f"listening on {listener.getsockname()[1]}", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listener])
