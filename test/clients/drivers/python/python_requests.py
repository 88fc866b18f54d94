import requests
from by_hand import line_of, options_of, request_of


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
            **options_of(request, "data"),
        )
        return line_of(response)

    return send
