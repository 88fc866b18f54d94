# Sends uploads with requests: requests_client.py URL TOKEN BYTES TRIES prints the status or the error of each try.
import sys

import requests

url, token, size, tries = sys.argv[1:]
headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
with requests.Session() as session:
    for _ in range(int(tries)):
        try:
            print(session.post(url, b"a" * int(size), headers=headers).status_code)
        except Exception as error:
            print(type(error).__name__)
