import {
  apiKey,
  basic,
  bearer,
  mutualTls,
  openIdConnect,
  tokensAsPasswords,
  type VerifierFactory,
} from 'fastify-contract'
import type { Call } from '../served-documents.ts'
import type { Handlers } from './handler-types.d.ts'

const done = async () => ({ status: 204, body: undefined }) as const

export const handlers: Handlers = {
  global: done,
  open: done,
  optional: done,
  either: done,
  both: done,
  scopes: done,
  remove: done,
  audit: done,
  roles: done,
  certificate: done,
  client: async ({ client }) => ({ status: 200, body: { ...client } }),
}

/** Returns a function that looks up a token. A token maps to its client's name and scopes, separated by spaces. */
const knows = (tokens: Record<string, string>) => (token: string) => {
  const [name = '', ...scopes] = (tokens[token] ?? '').split(' ')
  return name === '' ? undefined : { name, scopes }
}

const audience = 'https://plants.example'

/** Returns a verifier for each kind of scheme. `url` is the URL of the OpenID provider's metadata. */
export const verifiersOf = (url: string): Record<string, VerifierFactory> => {
  const keys = knows({ k: 'key-client', audit: 'auditor auditor', 'a+b c': 'odd' })
  const certificate = mutualTls({
    header: 'Client-Cert',
    verify: knows({ ':YQ==:': 'device auditor', ':Yg==:': 'other' }),
  })
  return {
    token: bearer(knows({ t: 'teller' })),
    password: basic(tokensAsPasswords(knows({ b: 'a', 'p:ä': 'ü auditor' }))),
    headerKey: apiKey({ in: 'header', name: 'X-Key' }, keys),
    queryKey: apiKey({ in: 'query', name: 'key' }, keys),
    cookieKey: apiKey({ in: 'cookie', name: 'key' }, keys),
    oauth: bearer(knows({ o: 'reader read', w: 'writer read write' })),
    connect: openIdConnect({ url, audience }),
    certificate: (context) => certificate({ ...context, trustProxy: ['127.0.0.1'] }),
  }
}

export const verifiers = verifiersOf('https://example.com/.well-known/openid-configuration')

const authorization = (value: string) => ({ authorization: value })
const basicOf = (text: string) => authorization(`Basic ${Buffer.from(text).toString('base64')}`)
const token = authorization('Bearer t')
const password = authorization('Basic YTpi')
const key = { 'x-key': 'k' }
const cookie = (value: string) => ({ cookie: value })

const [tokens, passwords, apiKeys] = [
  'Bearer realm="plant-store"',
  'Basic realm="plant-store", charset="UTF-8"',
  'ApiKey realm="plant-store"',
]
const missing = (challenge: string) => ({ status: 401, error: 40100, answer: { 'www-authenticate': challenge } })
const invalid = (challenge: string) => ({ status: 401, error: 40101, answer: { 'www-authenticate': challenge } })
const wrongToken = `${tokens}, error="invalid_token"`
const forbidden = (...answer: string[]) => ({
  status: 403,
  error: 40300,
  ...(answer[0] !== undefined && { answer: { 'www-authenticate': answer[0] } }),
})
const needs = (scope: string) => forbidden(`${tokens}, error="insufficient_scope", scope="${scope}"`)

const needsCertificate = 'MutualTLS realm="plant-store", ApiKey realm="plant-store"'

export const calls: Call[] = [
  { request: 'GET /certificate', headers: { 'client-cert': ':YQ==:' }, status: 204 },
  { request: 'GET /certificate', headers: { 'client-cert': ':Yg==:' }, status: 403, error: 40300 },
  { request: 'GET /certificate?key=k', status: 204 },
  ...[':Yw==:', ''].map((cert) => ({
    request: 'GET /certificate',
    headers: { 'client-cert': cert },
    status: 401,
    answer: { 'www-authenticate': needsCertificate },
  })),
  { request: 'GET /global', headers: token, status: 204 },
  { request: 'GET /global', headers: password, ...missing(tokens) },
  { request: 'GET /global', ...missing(tokens) },
  { request: 'GET /open', status: 204 },
  { request: 'GET /optional', status: 204 },
  { request: 'GET /optional', headers: token, status: 204 },
  { request: 'GET /either', headers: token, status: 204 },
  { request: 'GET /either', headers: password, status: 204 },
  { request: 'GET /either?key=k', status: 204 },
  { request: 'GET /either?other=1&key=a%2Bb+c', status: 204 },
  { request: 'GET /either', headers: cookie('a=b; key=k'), status: 204 },
  { request: 'GET /either', headers: cookie('key=a+b c'), status: 204 },
  { request: 'GET /either', ...missing(`${tokens}, ${passwords}, ${apiKeys}`) },
  {
    request: 'GET /either?key=x',
    headers: { ...cookie('key=x'), ...key },
    ...invalid(`${tokens}, ${passwords}, ${apiKeys}`),
  },
  { request: 'GET /either?key=k&key=k', ...invalid(apiKeys) },
  { request: 'GET /either?key=%FF', ...invalid(apiKeys) },
  { request: 'GET /either?key=', ...missing(apiKeys) },
  { request: 'GET /either', headers: cookie('key=k; key=x'), status: 204 },
  { request: 'GET /either', headers: cookie('key=x; key=k'), ...invalid(apiKeys) },
  { request: 'POST /both', headers: { ...password, ...key }, send: {}, status: 204 },
  { request: 'POST /both', headers: password, send: {}, ...missing(apiKeys) },
  { request: 'POST /both', headers: key, send: {}, ...missing(passwords) },
  { request: 'POST /both', headers: { ...password, 'x-key': 'x' }, send: {}, ...invalid(apiKeys) },
  { request: 'POST /both', headers: { ...password, 'x-key': `${'k'.repeat(4_097)}` }, send: {}, ...invalid(apiKeys) },
  // The service rejects this request before it reads the body.
  { request: 'POST /both', headers: { 'content-type': 'text/plain' }, send: 'x', ...missing(passwords) },
  { request: 'POST /both', headers: { ...password, ...key }, send: '[]', status: 400, error: 40003 },
  { request: 'GET /scopes', headers: { ...authorization('Bearer o'), ...key }, status: 204 },
  // The first alternative lacks its key, the second rejects the token: 40101 takes precedence over 40100.
  { request: 'GET /scopes', headers: authorization('Bearer o'), ...invalid(`${apiKeys}, ${wrongToken}`) },
  { request: 'GET /scopes', headers: authorization('Bearer c'), ...invalid(wrongToken) },
  { request: 'GET /scopes', ...missing(tokens) },
  { request: 'DELETE /scopes', headers: authorization('Bearer w'), status: 204 },
  { request: 'DELETE /scopes', headers: authorization('Bearer o'), ...needs('read write') },
  { request: 'DELETE /scopes', headers: authorization('Bearer x'), ...invalid(wrongToken) },
  { request: 'GET /audit', headers: authorization('Bearer w'), ...needs('audit') },
  { request: 'GET /roles', headers: basicOf('ü:p:ä'), status: 204 },
  { request: 'GET /roles', headers: basicOf('u\u0308:p:a\u0308'), status: 204 },
  { request: 'GET /roles', headers: { 'x-key': 'audit' }, status: 204 },
  { request: 'GET /roles', headers: password, ...forbidden() },
  { request: 'GET /roles', headers: key, ...forbidden() },
  { request: 'GET /roles', headers: { ...password, ...{ 'x-key': 'audit' } }, status: 204 },
  { request: 'GET /roles', ...missing(`${passwords}, ${apiKeys}`) },
  { request: 'GET /client', headers: authorization('Bearer w'), body: '{"name":"writer","scopes":["read","write"]}' },
  { request: 'GET /client', headers: password, body: '{"name":"a","scopes":[]}' },
  { request: 'GET /client', headers: key, body: '{"name":"key-client","scopes":[]}' },
]
