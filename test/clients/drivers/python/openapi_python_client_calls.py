import enum
import importlib
import inspect
import io
import pkgutil
import re
import sys
import types
import typing

import attrs
from by_hand import find
from generated import AuthenticatedClient, Client, models
from generated.api import default
from generated.types import UNSET
from generated.types import File as GeneratedFile
from run_cases import File, json_ready, plain


def connect(base_url, document):
    modules = [name for _, name, _ in pkgutil.iter_modules(default.__path__)]

    def send(case):
        name = next((name for name in modules if bare(name) == bare(case["operation"])), None)
        if name is None:
            return None
        function = importlib.import_module(f"generated.api.default.{name}").sync_detailed
        _, _, operation = find(document, case["operation"])
        with client_of(base_url, case.get("credentials", {})) as client:
            response = function(client=client, **arguments_of(function, operation, case))
        parsed = plain_of(response.parsed)
        return {"status": int(response.status_code), "headers": dict(response.headers), "response": parsed}

    return send


def bare(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())


def client_of(base_url, credentials):
    options = {"base_url": base_url, "follow_redirects": True, "timeout": 20.0, "httpx_args": {}}
    if "basic" in credentials:
        options["httpx_args"]["auth"] = (credentials["basic"]["username"], credentials["basic"]["password"])
    if "keyQuery" in credentials:
        options["httpx_args"]["params"] = {"api_key": credentials["keyQuery"]}
    if "keyCookie" in credentials:
        options["cookies"] = {"api_key": credentials["keyCookie"]}
    if "bearer" not in credentials and "keyHeader" in credentials:
        key = credentials["keyHeader"]
        return AuthenticatedClient(token=key, prefix="", auth_header_name="X-Api-Key", **options)
    if "keyHeader" in credentials:
        options["headers"] = {"X-Api-Key": credentials["keyHeader"]}
    if "bearer" in credentials:
        return AuthenticatedClient(token=credentials["bearer"], **options)
    return Client(**options)


def arguments_of(function, operation, case):
    """Returns the keyword arguments of a call, with models where the function wants them."""
    hints = typing.get_type_hints(function)
    values = plain(case.get("arguments", {}))
    arguments = {}
    for parameter in operation.get("parameters", []):
        if parameter["name"] not in values:
            continue
        name = next((each for each in hints if bare(each) == bare(parameter["name"])), None)
        if name is None:
            raise TypeError(f"the function has no argument for {parameter['name']}")
        arguments[name] = typed(values[parameter["name"]], hints[name])
    if "body" in case:
        arguments["body"] = typed(plain(case["body"]), hints["body"])
    return arguments


def typed(value, hint):
    """Returns a value in the type of a parameter, as a user of the client writes it."""
    if isinstance(value, File):
        return GeneratedFile(io.BytesIO(value.text.encode()), value.name, value.type)
    if isinstance(value, bytes) and hint is GeneratedFile:
        return GeneratedFile(io.BytesIO(value))
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        hint = next((each for each in typing.get_args(hint) if takes(each, value)), None)
    if typing.get_origin(hint) is list and isinstance(value, list):
        return [typed(item, typing.get_args(hint)[0]) for item in value]
    if inspect.isclass(hint) and issubclass(hint, enum.Enum):
        return hint(value)
    if not is_model(hint) or not isinstance(value, dict):
        return value
    if not any(
        isinstance(item, File) for each in value.values() for item in (each if isinstance(each, list) else [each])
    ):
        return hint.from_dict(json_ready(value))
    # A model does not make files of what it reads, so its members are given one by one.
    hints = typing.get_type_hints(hint, vars(models) | vars(sys.modules[hint.__module__]))
    known = {bare(each.name): each.name for each in attrs.fields(hint)}
    members = {known[bare(name)]: typed(member, hints[known[bare(name)]]) for name, member in value.items()}
    return hint(**members)


def is_model(hint):
    return inspect.isclass(hint) and hasattr(hint, "from_dict")


def takes(hint, value):
    """Says whether a value is of a type of a union."""
    if isinstance(value, dict):
        names = {bare(each.name) for each in attrs.fields(hint)} if is_model(hint) else set()
        return is_model(hint) and ("additionalproperties" in names and len(names) == 1 or names >= {*map(bare, value)})
    if isinstance(value, list):
        return typing.get_origin(hint) is list
    return inspect.isclass(hint) and isinstance(value, hint)


def plain_of(value):
    if isinstance(value, list):
        return [plain_of(item) for item in value]
    if isinstance(value, GeneratedFile):
        return value.payload.read()
    if value is UNSET:
        return None
    return value.to_dict() if is_model(type(value)) else value
