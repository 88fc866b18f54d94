import { readFile } from 'node:fs/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Document } from 'fastify-contract-cli/testing'
import t, { type Test } from 'tap'
import { ownPath } from '../support/own-path.ts'
import { largeId, serveTools, token, toolsDocument } from '../support/serve-tools.ts'

const { paths, components } = toolsDocument as unknown as {
  paths: { '/trees/{id}': Record<'parameters' | 'get', object> }
  components: object
}
const int64 = { type: 'integer', format: 'int64' }
const tree = { type: 'object', required: ['id'], properties: { id: int64, height: { type: 'number' } } }

const { parameters, get } = paths['/trees/{id}']

/** The document with one tool, whose schemas are short. */
const oneTool = {
  ...toolsDocument,
  paths: { '/trees/{id}': { parameters, get } },
  components: { ...components, schemas: { Tree: tree } },
} as unknown as Document

/** The headers of a transcript, in this order. */
const shown = ['Authorization', 'MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name', 'WWW-Authenticate']

const headerLines = (headers: Headers) =>
  shown.flatMap((name) => (headers.get(name) === null ? [] : [`${name}: ${headers.get(name)}`]))

const formatted = (body: string) => (body === '' ? [] : ['', JSON.stringify(JSON.parse(body), null, 2)])

/** Lists the tools by a client in a mode, and calls one; returns what was sent and received. */
async function transcript(t: Test, mode: 'legacy' | 'auto'): Promise<string> {
  const { url } = await serveTools(t, {}, oneTool)
  const parts: string[] = []
  async function recordingFetch(target: string | URL, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(target, init)
    // The client of older revisions asks for a stream without a request of its own.
    if (init.method !== 'POST') return response
    const sent = ['POST /mcp HTTP/1.1', ...headerLines(new Headers(init.headers)), ...formatted(String(init.body))]
    const { status, statusText, headers } = response
    const received = [`HTTP/1.1 ${status} ${statusText}`, ...headerLines(headers)]
    parts.push([...sent, '', ...received, ...formatted(await response.clone().text())].join('\n'))
    return response
  }
  const client = new Client({ name: 'example', version: '1.0.0' }, { versionNegotiation: { mode } })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  const options = { requestInit, fetch: recordingFetch as never }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), options))
  await client.listTools()
  await client.callTool({ name: 'find_tree', arguments: { path: { id: largeId } } })
  await client.close()
  const blocks = parts.map((part) => `\`\`\`text\n${part.replaceAll(token, 'TOKEN')}\n\`\`\`\n`)
  return blocks.join('\n')
}

for (const [mode, revision] of [
  ['auto', '2026-07-28'],
  ['legacy', '2025-11-25'],
] as const) {
  t.test(`the page has the messages of a client of revision ${revision}`, async (t) => {
    const page = await readFile(ownPath('docs/mcp-transcripts.md'), 'utf8')
    const [, section = ''] = page.split(`## Revision ${revision}\n`)
    const [own = ''] = section.split('\n## ')
    t.equal(own.slice(own.indexOf('```')), await transcript(t, mode))
  })
}
