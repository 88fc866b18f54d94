"""Lists and calls the tools of test/support/serve-tools.ts: python-client.py URL TOKEN MODE. Prints JSON."""

import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main(url: str, token: str, mode: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            tools = (await client.list_tools()).tools
            calls = {
                "find_tree": {"path": {"id": "9007199254740993"}},
                "listTrees": {},
                "measure": {},
                "notes": {},
                "fellTree": {"path": {"id": "1"}},
            }
            results = {name: await client.call_tool(name, arguments) for name, arguments in calls.items()}
            failed = await client.call_tool("find_tree", {"path": {"id": "0"}})
            print(
                json.dumps(
                    {
                        "revision": client.protocol_version,
                        "tools": [tool.name for tool in tools],
                        "results": {name: result.structured_content for name, result in results.items()},
                        "errors": [name for name, result in results.items() if result.is_error],
                        "failed": [failed.is_error, failed.content[0].text],
                    }
                )
            )


asyncio.run(main(*sys.argv[1:]))
