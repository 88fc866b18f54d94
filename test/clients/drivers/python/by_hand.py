"""What a call by hand needs, from the document and a case, in the form that all HTTP libraries of Python share."""

import json
from dataclasses import dataclass, field
from urllib.parse import quote

from run_cases import File, json_lines, json_ready, plain


@dataclass
class Request:
    method: str
    path: str
    query: list = field(default_factory=list)
    headers: dict = field(default_factory=dict)
    cookies: dict = field(default_factory=dict)
    basic: tuple | None = None
    media_type: str | None = None
    body: object = None


def request_of(document, case):
    """Returns the parts of a call. A value is written as its style asks for, and its delimiters are not encoded."""
    method, path, operation = find(document, case["operation"])
    given = plain(case.get("arguments", {}))
    request = Request(method.upper(), path)
    for parameter in operation.get("parameters", []):
        name = parameter["name"]
        if name in given:
            add(request, parameter, given[name])
    add_credentials(request, case.get("credentials", {}))
    if "body" in case:
        request.media_type = case.get("mediaType") or next(iter(operation["requestBody"]["content"]))
        request.body = plain(case["body"])
    return request


def find(document, operation_id):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if operation["operationId"] == operation_id:
                return method, path, operation
    raise ValueError(f"the document has no {operation_id}")


def add(request, parameter, value):
    name = parameter["name"]
    location = parameter["in"]
    style = parameter.get("style") or ("form" if location in ("query", "cookie") else "simple")
    explode = parameter.get("explode", style == "form")
    if "content" in parameter:
        value = json.dumps(json_ready(value))
    if location == "path":
        written = path_text(name, value, style, explode)
        request.path = request.path.replace("{" + name + "}", written)
    elif location == "query":
        request.query += query_pairs(name, value, style, explode)
    elif location == "header":
        request.headers[name] = simple(value, explode, str)
    elif explode and isinstance(value, dict):
        request.cookies |= {key: text(member) for key, member in value.items()}
    else:
        request.cookies[name] = simple(value, False, str)


def text(value):
    if isinstance(value, bool):
        return str(value).lower()
    return str(json_ready(value))


def simple(value, explode, encode, delimiter=","):
    if isinstance(value, dict) and explode:
        return delimiter.join(f"{encode(key)}={encode(text(member))}" for key, member in value.items())
    if isinstance(value, dict):
        return delimiter.join(encode(text(part)) for pair in value.items() for part in pair)
    if isinstance(value, list):
        return delimiter.join(encode(text(item)) for item in value)
    return encode(text(value))


def path_text(name, value, style, explode):
    def encode(part):
        return quote(part, safe="")

    if style == "label":
        return "." + simple(value, explode, encode, "." if explode else ",")
    if style == "matrix" and explode and isinstance(value, list):
        return "".join(f";{name}={encode(text(item))}" for item in value)
    if style == "matrix" and explode and isinstance(value, dict):
        return ";" + simple(value, True, encode, ";")
    if style == "matrix":
        return f";{name}=" + simple(value, False, encode)
    return simple(value, explode, encode)


def query_pairs(name, value, style, explode):
    if style == "deepObject":
        return deep_pairs(name, value)
    if explode and isinstance(value, list):
        return [(name, text(item)) for item in value]
    if explode and isinstance(value, dict):
        return [(key, text(member)) for key, member in value.items()]
    delimiter = {"spaceDelimited": " ", "pipeDelimited": "|"}.get(style, ",")
    return [(name, simple(value, False, str, delimiter))]


def deep_pairs(name, value):
    if isinstance(value, dict):
        return [pair for key, member in value.items() for pair in deep_pairs(f"{name}[{key}]", member)]
    if isinstance(value, list):
        return [(name, text(item)) for item in value]
    return [(name, text(value))]


def add_credentials(request, credentials):
    if "bearer" in credentials:
        request.headers["Authorization"] = f"Bearer {credentials['bearer']}"
    if "basic" in credentials:
        request.basic = (credentials["basic"]["username"], credentials["basic"]["password"])
    if "keyHeader" in credentials:
        request.headers["X-Api-Key"] = credentials["keyHeader"]
    if "keyQuery" in credentials:
        request.query.append(("api_key", credentials["keyQuery"]))
    if "keyCookie" in credentials:
        request.cookies["api_key"] = credentials["keyCookie"]


def form_parts(body):
    """Returns the texts of a multipart form, and its files and parts of JSON, as `files=` takes them."""
    texts, files = {}, []
    for name, value in body.items():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, File):
                files.append((name, (item.name, item.text.encode(), item.type)))
            elif isinstance(item, dict):
                files.append((name, (None, json.dumps(json_ready(item)), "application/json")))
            else:
                texts[name] = text(item)
    return texts, files


def body_bytes(request):
    """Returns a body that is neither JSON nor a form."""
    if request.media_type == "application/jsonl":
        return json_lines(request.body).encode()
    return request.body if isinstance(request.body, bytes) else request.body.encode()


def options_of(request, option):
    """Returns the options of requests and httpx for a body, with the name of the option that takes bytes."""
    media_type = request.media_type
    if media_type is None:
        return {}
    if media_type == "multipart/form-data":
        texts, files = form_parts(request.body)
        return {"data": texts, "files": files}
    if media_type == "application/x-www-form-urlencoded":
        return {"data": request.body}
    if media_type != "application/json":
        request.headers["Content-Type"] = media_type
    if "json" in media_type and "jsonl" not in media_type:
        return {"json": json_ready(request.body)}
    return {option: body_bytes(request)}


def line_of(response):
    """Returns the members of a line for a response of requests or httpx."""
    return {
        "status": response.status_code,
        "headers": dict(response.headers),
        "response": decoded(
            response.headers.get("Content-Type", ""), response.content, lambda: response.text, response.json
        ),
    }


def decoded(content_type, content, body_text, body_json):
    """Returns the body of a response by its media type."""
    media_type = content_type.split(";")[0]
    if not content:
        return None
    if media_type.endswith("json"):
        return body_json()
    if media_type == "application/jsonl":
        return [json.loads(line) for line in content.decode().splitlines()]
    if media_type == "text/event-stream":
        lines = content.decode().splitlines()
        return [json.loads(line.removeprefix("data:")) for line in lines if line.startswith("data:")]
    return body_text() if media_type.startswith("text/") else content
