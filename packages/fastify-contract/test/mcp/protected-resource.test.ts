import {
  Client,
  discoverOAuthProtectedResourceMetadata,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import type { Document } from 'fastify-contract-cli/testing'
import t from 'tap'
import { readingToken, serveTools, toolsDocument } from '../support/serve-tools.ts'

const wellKnown = '/.well-known/oauth-protected-resource'
const metadata = {
  resource: 'https://trees.example/mcp',
  authorization_servers: ['https://login.example'],
  scopes_supported: ['trees:read', 'trees:write'],
  bearer_methods_supported: ['header'],
  resource_name: 'Trees',
}

/** Returns the document with another security scheme, and other servers. */
function withScheme(scheme: object, servers: object[] = [{ url: 'https://trees.example/v1' }]): Document {
  const changed = structuredClone(toolsDocument) as unknown as { components: object; servers: object[] }
  Object.assign(changed.components, { securitySchemes: { login: scheme } })
  return { ...changed, servers } as unknown as Document
}

/** Calls a tool that needs a token; returns the status and the challenge. */
async function call(url: string, headers: object = {}, name = 'find_tree') {
  const args = { path: { id: '1' }, ...(name === 'putTree' && { body: { id: '1', branches: [] } }) }
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  })
  return { status: response.status, challenge: response.headers.get('www-authenticate') }
}

const get = async (url: string, path: string) => {
  const response = await fetch(new URL(path, url), { headers: { 'x-forwarded-host': 'evil.example' } })
  return { status: response.status, body: await response.json() }
}

t.test('the endpoint names its metadata in challenges, and serves it at both paths', async (t) => {
  const { app, url } = await serveTools(t)
  for (const path of [`${wellKnown}/mcp`, wellKnown]) t.same(await get(url, path), { status: 200, body: metadata })
  const forged = await app.inject({ url: wellKnown, headers: { host: 'evil.example' } })
  t.same(forged.json(), metadata, 'a client does not choose the URL')
  t.same((await get(url, `${wellKnown}/other`)).status, 404)
  const page = await fetch(new URL(wellKnown, url), { headers: { origin: 'https://page.example' } })
  t.same([page.status, page.headers.get('access-control-allow-origin')], [200, '*'], 'a page of any origin may read it')
  const first = `Bearer resource_metadata="https://trees.example${wellKnown}/mcp"`
  t.same(await call(url), { status: 401, challenge: `${first}, scope="trees:read", realm="Trees"` })
  t.same(await call(url, { authorization: 'Bearer wrong' }), {
    status: 401,
    challenge: `${first}, scope="trees:read", realm="Trees", error="invalid_token"`,
  })
  t.same(await call(url, { authorization: `Bearer ${readingToken}` }, 'putTree'), {
    status: 403,
    challenge: `${first}, realm="Trees", error="insufficient_scope", scope="trees:read trees:write"`,
  })
})

t.test('a client of the SDK finds the metadata, and learns which scopes it needs', async (t) => {
  const { url } = await serveTools(t)
  const { origin } = new URL(url)
  const local = await serveTools(t, { resource: `${origin}/mcp`, authorizationServers: ['https://other.example'] })
  t.same(await discoverOAuthProtectedResourceMetadata(local.url), {
    ...metadata,
    resource: `${origin}/mcp`,
    authorization_servers: ['https://other.example'],
  })
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  const requestInit = { headers: { authorization: `Bearer ${readingToken}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  t.teardown(() => client.close())
  const args = { path: { id: '1' }, body: { id: '1', branches: [] } }
  const { requiredScope, resourceMetadataUrl } = await client
    .callTool({ name: 'putTree', arguments: args })
    .then(() => t.fail('the call needs another scope'))
    .catch((error) => error)
  t.equal(requiredScope, 'trees:read trees:write')
  t.equal(String(resourceMetadataUrl), `https://trees.example${wellKnown}/mcp`)
})

t.test('an endpoint of another path, or behind a proxy, has the metadata of its own URL', async (t) => {
  const tools = await serveTools(t, { path: '/tools' })
  t.match(await get(tools.url, `${wellKnown}/tools`), { body: { resource: 'https://trees.example/tools' } })
  const root = await serveTools(t, { resource: 'https://mcp.example/' })
  t.match(await get(root.url, wellKnown), { body: { resource: 'https://mcp.example/' } })
  const proxied = await serveTools(t, { resource: 'https://proxy.example/api/mcp' })
  t.match(await get(proxied.url, `${wellKnown}/api/mcp`), { body: { resource: 'https://proxy.example/api/mcp' } })
  t.match((await call(proxied.url)).challenge, `"https://proxy.example${wellKnown}/api/mcp"`)
})

t.test('the issuer of oauth2 comes from the URL of its metadata, or from the option', async (t) => {
  const flows = { clientCredentials: { tokenUrl: 'https://login.example/token', scopes: {} } }
  const path = '/.well-known/oauth-authorization-server'
  const named = withScheme({ type: 'oauth2', flows, oauth2MetadataUrl: `https://login.example${path}/tenant` })
  const { url } = await serveTools(t, {}, { ...named, openapi: '3.2.0' })
  t.match(await get(url, wellKnown), { body: { authorization_servers: ['https://login.example/tenant'] } })
  const unnamed = withScheme({ type: 'oauth2', flows })
  const unknown = await serveTools(t, {}, unnamed)
  t.equal((await get(unknown.url, wellKnown)).status, 404)
  t.equal((await call(unknown.url)).challenge, 'Bearer realm="Trees"')
  const given = await serveTools(t, { authorizationServers: ['https://a.example'] }, unnamed)
  t.match(await get(given.url, wellKnown), { body: { authorization_servers: ['https://a.example'] } })
})

t.test('there is no metadata for bearer tokens of another kind, or without a URL of the endpoint', async (t) => {
  const plain = await serveTools(
    t,
    { resource: 'https://a.example/mcp' },
    withScheme({ type: 'http', scheme: 'bearer' }),
  )
  t.equal((await get(plain.url, wellKnown)).status, 404)
  t.equal((await call(plain.url)).challenge, 'Bearer realm="Trees"')
  const { components } = toolsDocument as unknown as { components: { securitySchemes: { login: object } } }
  const relative = withScheme(components.securitySchemes.login, [{ url: '/v1' }])
  t.equal((await get((await serveTools(t, {}, relative)).url, wellKnown)).status, 404)
})

t.test('a URL that metadata cannot have stops the start', async (t) => {
  for (const resource of ['mcp', '/mcp', 'ftp://a.example/mcp', 'https://a.example/mcp?a=1', 'https://a.example/mcp#a'])
    await t.rejects(serveTools(t, { resource }), { message: /^mcpServer: resource ".*" must be an https URL without/ })
  const authorizationServers = ['login.example']
  await t.rejects(serveTools(t, { authorizationServers }), {
    message: /^mcpServer: authorizationServers "login.example"/,
  })
})
