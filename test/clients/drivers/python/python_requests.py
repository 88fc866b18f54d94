import requests
from by_hand import body_bytes, decoded, form_parts, json_ready, request_of


def connect(base_url, document):
    session = requests.Session()

    def send(case):
        request = request_of(document, case)
        session.cookies.clear()
        response = session.request(
            request.method,
            base_url + request.path,
            params=request.query,
            headers=request.headers,
            cookies=request.cookies,
            auth=request.basic,
            timeout=20,
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
    return {"data": body_bytes(request)}
