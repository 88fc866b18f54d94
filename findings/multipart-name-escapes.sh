#!/usr/bin/env bash
# Clients write the name of a form's part with a backslash and a quote in three ways, and one mixes two of them.
#
# Versions: undici 7.30.2, form-data 4.0.6, and of Python requests 2.34.2, httpx 0.28.1, aiohttp 3.14.5.
# Rules: WHATWG HTML, multipart/form-data encoding (a quote is %22, a backslash stays); RFC 7578, section 4.2, with
# RFC 2183 (a quoted string, in which a backslash escapes).
# Expected: each client follows one of the two. Seen: undici, form-data and requests follow the first one, aiohttp follows
# the second one, and httpx escapes the backslash by the second one and the quote by the first one. So a server cannot
# tell from \\ whether one or two backslashes are meant.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund undici@7.30.2 form-data@4.0.6
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check requests==2.34.2 httpx==0.28.1 aiohttp==3.14.5
cat >clients.js <<'JS'
import FormData from 'form-data'
import { FormData as Form, Request } from 'undici'

const name = 'a\\b"c'
const nameIn = (text) => /; name=(.*?)(?:; filename|\r\n)/.exec(text)[1]
const form = new Form()
form.append(name, 'seed')
console.log(`undici: ${nameIn(await new Request('http://localhost', { method: 'POST', body: form }).text())}`)
const old = new FormData()
old.append(name, 'seed')
console.log(`form-data: ${nameIn(old.getBuffer().toString())}`)
JS
cat >clients.py <<'PYTHON'
import asyncio
import re

import aiohttp
import httpx
import requests

name = 'a\\b"c'


def name_in(body):
    return re.search(rb"; name=(.*?)(?:; filename|\r\n)", body).group(1).decode()


parts = {name: (None, b"seed")}
print("requests:", name_in(requests.Request("POST", "http://localhost", files=parts).prepare().body))
print("httpx:", name_in(httpx.Request("POST", "http://localhost", files=parts).read()))


class Collected:
    body = b""

    async def write(self, chunk):
        self.body += chunk


async def of_aiohttp():
    form = aiohttp.FormData(default_to_multipart=True)
    form.add_field(name, "seed")
    collected = Collected()
    await form().write(collected)
    return name_in(collected.body)


print("aiohttp:", asyncio.run(of_aiohttp()))
PYTHON
{
  node clients.js
  venv/bin/python clients.py
} | tee output
diff output - <<'SEEN'
undici: "a\b%22c"
form-data: "a\b%22c"
requests: "a\b%22c"
httpx: "a\\b%22c"
aiohttp: "a\\b\"c"
SEEN
