import httpx
from by_hand import body_bytes, decoded, form_parts, json_ready, request_of


def connect(base_url, document):
    def send(case):
        request = request_of(document, case)
        with httpx.Client(base_url=base_url, follow_redirects=True, timeout=20, cookies=request.cookies) as client:
            response = client.request(
                request.method,
                request.path,
                params=request.query,
                headers=request.headers,
                auth=request.basic,
                **body_of(request),
            )
        return {
            "status": response.status_code,
            "headers": dict(response.headers),
            "response": decoded(
                response.headers.get("Content-Type", ""), response.content, lambda: response.text, response.json
            ),
        }

    return send


def body_of(request):
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
    return {"content": body_bytes(request)}
