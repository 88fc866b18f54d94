import asyncio

import aiohttp
from by_hand import body_bytes, decoded, form_parts, json_ready, request_of
from yarl import URL


def connect(base_url, document):
    loop = asyncio.new_event_loop()
    return lambda case: loop.run_until_complete(send(base_url, request_of(document, case)))


async def send(base_url, request):
    timeout = aiohttp.ClientTimeout(total=20)
    async with aiohttp.ClientSession(cookies=request.cookies, timeout=timeout) as session:
        # The parts of the path are encoded; without the flag, aiohttp decodes what need not be encoded.
        url = URL(base_url + request.path, encoded=True)
        auth = aiohttp.BasicAuth(*request.basic) if request.basic else None
        options = {"params": request.query, "headers": request.headers, "auth": auth, **body_of(request)}
        async with session.request(request.method, url, **options) as response:
            content = await response.read()
            text = await response.text() if response.content_type.startswith("text/") else ""
            body = await response.json(content_type=None) if response.content_type.endswith("json") else None
            return {
                "status": response.status,
                "headers": dict(response.headers),
                "response": decoded(response.headers.get("Content-Type", ""), content, lambda: text, lambda: body),
            }


def body_of(request):
    media_type = request.media_type
    if media_type is None:
        return {}
    if media_type == "multipart/form-data":
        texts, files = form_parts(request.body)
        form = aiohttp.FormData()
        for name, value in texts.items():
            form.add_field(name, value)
        for name, (filename, content, content_type) in files:
            form.add_field(name, content, filename=filename, content_type=content_type)
        return {"data": form}
    if media_type == "application/x-www-form-urlencoded":
        # aiohttp takes a list of values only as pairs, and numbers only as texts.
        items = [(name, value if isinstance(value, list) else [value]) for name, value in request.body.items()]
        return {"data": [(name, str(item)) for name, values in items for item in values]}
    if media_type != "application/json":
        request.headers["Content-Type"] = media_type
    if "json" in media_type and "jsonl" not in media_type:
        return {"json": json_ready(request.body)}
    return {"data": body_bytes(request)}
