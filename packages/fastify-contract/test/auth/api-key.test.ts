import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { type ApiKeyLocation, apiKey, type Verifier } from '../../src/auth/verifiers.ts'
import { parseQuery } from '../../src/http/request-head.ts'
import { verifierContext } from '../support/serve-document.ts'

const client = { name: 'shop', scopes: [] }

/** Returns the key that the verifier reads from a request, or the name of the error that rejects the request. */
function keyOf(place: ApiKeyLocation, { headers = {}, query = '' }: { headers?: object; query?: string }) {
  let told: unknown
  const request = { headers, query: parseQuery(query), raw: { socket: {} } } as unknown as FastifyRequest
  const verify = (key: string) => {
    told = key
    return client
  }
  const verifier = apiKey(place, verify)(verifierContext(undefined as never)) as Verifier
  verifier(
    request,
    (rejection) => {
      if (rejection !== undefined) told = (rejection as { kind?: string }).kind
    },
    [],
  )
  return told
}

const longest = 'k'.repeat(4_096)

t.test('a key is read from a header', async (t) => {
  const of = (headers: object) => keyOf({ in: 'header', name: 'X-API-Key' }, { headers })
  t.equal(of({ 'x-api-key': 'a%2B+/=' }), 'a%2B+/=', 'a key in a header is not decoded')
  t.equal(of({ 'x-api-key': longest }), longest)
  for (const none of [{}, { 'x-api-key': '' }, { authorization: 'k' }]) t.equal(of(none), 'missingToken')
  for (const wrong of [`${longest}k`, ['k', 'k']]) t.equal(of({ 'x-api-key': wrong }), 'invalidToken')
})

t.test('a key in the query is decoded', async (t) => {
  const of = (query: string) => keyOf({ in: 'query', name: 'key' }, { query })
  t.equal(of('a=b&key=a%2B+%C3%A9'), 'a+ é')
  t.equal(of('k%65y=k'), 'k')
  for (const none of ['', 'key=', 'key', 'KEY=k', 'keys=k']) t.equal(of(none), 'missingToken', none)
  for (const wrong of ['key=k&key=k', 'key=&key=k', 'key=%', 'key=%FF', `key=${longest}k`])
    t.equal(of(wrong), 'invalidToken')
})

t.test('a key in a cookie is not decoded', async (t) => {
  const of = (cookie: string) => keyOf({ in: 'cookie', name: 'key' }, { headers: { cookie } })
  t.equal(of('a=b; key=a+b%20=='), 'a+b%20==')
  for (const none of ['', 'key=', 'KEY=k']) t.equal(of(none), 'missingToken', none)
  for (const wrong of ['key=k; key=l', `key=${longest}k`]) t.equal(of(wrong), 'invalidToken')
  t.equal(keyOf({ in: 'cookie', name: 'key' }, {}), 'missingToken')
})

t.test('an inherited property name is an ordinary name', async (t) => {
  for (const name of ['toString', '__proto__']) {
    t.equal(keyOf({ in: 'query', name }, {}), 'missingToken', name)
    t.equal(keyOf({ in: 'query', name }, { query: `${name}=k` }), 'k')
  }
  t.equal(keyOf({ in: 'header', name: 'constructor' }, {}), 'missingToken')
})
