import t from 'tap'
import { isIssuer, isKeySource } from '../../src/auth/tokens.ts'

t.test('an issuer needs an https URL, or an http URL on loopback', async (t) => {
  const good = ['https://issuer.example', 'https://issuer.example:8443/tenant/', 'http://localhost:8080/realms/plants']
  for (const text of [...good, 'http://127.0.0.1', 'http://127.8.9.1/', 'http://[::1]:3000']) t.ok(isIssuer(text), text)
  const bad = ['http://issuer.example', 'http://localhost.issuer.example', 'http://127.issuer.example', 'http://[::2]']
  const shapes = [
    '',
    'issuer.example',
    'https:issuer.example',
    'https://',
    'ftp://localhost',
    'file:///keys',
    'HTTPS://x',
  ]
  const parts = ['https://u:p@issuer.example', 'https://u@issuer.example', 'http://127.0.0.1@issuer.example']
  for (const text of [...bad, ...shapes, ...parts]) t.notOk(isKeySource(text), text)
  for (const text of bad) t.notOk(isIssuer(text), text)
})

t.test('an issuer may have neither query nor fragment, a JWKS URL may', async (t) => {
  for (const text of ['https://issuer.example?tenant=1', 'https://issuer.example/#a', 'https://issuer.example/?']) {
    t.notOk(isIssuer(text), text)
    t.ok(isKeySource(text), text)
  }
  t.notOk(isIssuer('https://issuer.example '))
})
