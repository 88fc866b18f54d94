# Sends uploads with urllib: urllib_client.py URL TOKEN BYTES TRIES prints the status or the error of each try.
import sys
import urllib.error
import urllib.request

url, token, size, tries = sys.argv[1:]
headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
for _ in range(int(tries)):
    try:
        request = urllib.request.Request(url, b"a" * int(size), headers)
        with urllib.request.urlopen(request) as response:
            response.read()
            print(response.status)
    except urllib.error.HTTPError as error:
        error.read()
        print(error.code)
    except Exception as error:
        print(repr(error))
