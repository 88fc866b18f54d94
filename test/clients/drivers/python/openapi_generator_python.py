import inspect
import json
import re
import types
import typing

from by_hand import find
from openapi_client import ApiClient, ApiException, Configuration, DefaultApi, models
from pydantic import BaseModel
from run_cases import File, json_ready, plain


def connect(base_url, document):
    methods = dict(inspect.getmembers(DefaultApi, inspect.isfunction))

    def send(case):
        name = next((name for name in methods if bare(name) == bare(case["operation"])), None)
        if name is None:
            return None
        _, _, operation = find(document, case["operation"])
        api = DefaultApi(ApiClient(configuration_of(base_url, case.get("credentials", {}))))
        arguments = arguments_of(methods[name], operation, case)
        try:
            result = getattr(api, f"{name}_with_http_info")(**arguments, _request_timeout=20.0)
        except ApiException as error:
            if not error.status:
                raise
            return {"status": error.status, "headers": dict(error.headers or {}), "response": plain_of(error.data)}
        response = {"status": result.status_code, "response": plain_of(result.data)}
        return response | {"headers": dict(result.headers or {})}

    return send


def bare(name):
    return re.sub(r"[^a-z0-9]", "", name.lower().removeprefix("var_"))


def configuration_of(base_url, credentials):
    basic = credentials.get("basic", {})
    keys = {name: credentials[name] for name in ("keyHeader", "keyQuery", "keyCookie") if name in credentials}
    return Configuration(host=base_url, access_token=credentials.get("bearer"), api_key=keys, **basic)


def arguments_of(method, operation, case):
    """Returns the keyword arguments of a call, with models where the method wants them."""
    names = [name for name in inspect.signature(method).parameters if name != "self" and not name.startswith("_")]
    hints = typing.get_type_hints(method)
    values = plain(case.get("arguments", {}))
    content = operation.get("requestBody", {}).get("content", {})
    is_form = any(media_type.endswith(("form-data", "urlencoded")) for media_type in content)
    if is_form:
        values |= plain(case.get("body", {}))
    found = {bare(name): value for name, value in values.items()}
    arguments = {}
    for name in names:
        if bare(name) in found:
            arguments[name] = typed(found[bare(name)], hints[name])
        elif "body" in case and not is_form:
            arguments[name] = typed(plain(case["body"]), hints[name])
    if "mediaType" in case:
        arguments["_content_type"] = case["mediaType"]
    return arguments


def typed(value, hint):
    """Returns a value in the type of a parameter, as a user of the client writes it."""
    if isinstance(value, File):
        return (value.name, value.text.encode())
    if typing.get_origin(hint) in (typing.Union, types.UnionType, typing.Annotated):
        model = next((each for each in typing.get_args(hint) if is_model(each)), None)
        lists = [each for each in typing.get_args(hint) if typing.get_origin(each) is list]
        hint = model or (lists[0] if isinstance(value, list) and lists else hint)
    if typing.get_origin(hint) is list and isinstance(value, list):
        return [typed(item, typing.get_args(hint)[0]) for item in value]
    if not is_model(hint):
        return value
    if "one_of_schemas" not in hint.model_fields:
        return hint.model_validate(with_texts(value))
    if not isinstance(value, dict):
        return hint(value)
    names = sorted(hint.model_fields["one_of_schemas"].default)
    candidates = [getattr(models, name) for name in names if hasattr(models, name)]
    return hint(next(each for each in candidates if is_instance(value, each)).model_validate(value))


def with_texts(value):
    """Returns a value with texts of Base64 for bytes: a model takes bytes, but the client does not send them."""
    if isinstance(value, dict):
        return {name: with_texts(member) for name, member in value.items()}
    return json_ready(value) if isinstance(value, bytes) else value


def is_model(hint):
    return inspect.isclass(hint) and issubclass(hint, BaseModel)


def is_instance(value, model):
    known = {each.alias or name for name, each in model.model_fields.items()}
    return set(value) <= known


def plain_of(value):
    if isinstance(value, BaseModel):
        return plain_of(json.loads(value.to_json()))
    if isinstance(value, list):
        return [plain_of(item) for item in value]
    return value
