import httpx
from by_hand import line_of, options_of, request_of


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
                **options_of(request, "content"),
            )
        return line_of(response)

    return send
