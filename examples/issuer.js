// An authorization server for a trial: it issues JSON Web Tokens to one client (RFC 6749 section 4.4) with the claims of
// RFC 9068. The service finds its keys by RFC 8414. The signing key lives as long as the process; tokens expire
// after ten minutes.
//
// $ export CLIENT_SECRET=$(openssl rand -hex 32)
// $ PORT=4000 node examples/issuer.js &
// issuer http://127.0.0.1:4000
// $ JWT_ISSUER=http://127.0.0.1:4000 JWT_AUDIENCE=https://plants.example npm start --silent &
// plant-store … on http://127.0.0.1:3000, …
// $ TOKEN=$(curl -s http://127.0.0.1:4000/token -u "shop:$CLIENT_SECRET" -d grant_type=client_credentials \
//     | node -p 'JSON.parse(fs.readFileSync(0)).access_token')
// $ curl -s http://127.0.0.1:3000/plants -H "Authorization: Bearer $TOKEN" \
//     -H 'Content-Type: application/json' -d '{"id":1,"name":"Monstera deliciosa"}'
// {"name":"Monstera deliciosa"}
// $ curl -s http://127.0.0.1:3000/plants -H "Authorization: Bearer ${TOKEN%??}" \
//     -H 'Content-Type: application/json' -d '{"id":1,"name":"Monstera deliciosa"}'
// {"error":40101,"message":"the access token is not valid"}
// $ curl -s http://127.0.0.1:4000/token -u shop:guess -d grant_type=client_credentials
// {"error":"invalid_client"}
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose'

const { PORT, CLIENT_SECRET } = process.env
if (!PORT || !CLIENT_SECRET) throw new Error('set PORT and CLIENT_SECRET')
const issuer = `http://127.0.0.1:${PORT}`
const audience = 'https://plants.example'

const { publicKey, privateKey } = await generateKeyPair('ES256')
const jwk = await exportJWK(publicKey)
const kid = await calculateJwkThumbprint(jwk)

const accessToken = () =>
  new SignJWT({ client_id: 'shop' })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject('shop')
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime('10m')
    .sign(privateKey)

const digest = (text) => createHash('sha256').update(text).digest()
const expected = digest(`Basic ${Buffer.from(`shop:${CLIENT_SECRET}`).toString('base64')}`)

async function reply({ method, url, headers }) {
  if (url === '/.well-known/oauth-authorization-server') return [200, { issuer, jwks_uri: `${issuer}/keys` }]
  if (url === '/keys') return [200, { keys: [{ ...jwk, kid, alg: 'ES256', use: 'sig' }] }]
  if (url !== '/token' || method !== 'POST') return [404, { error: 'not_found' }]
  if (!timingSafeEqual(digest(headers.authorization ?? ''), expected)) return [401, { error: 'invalid_client' }]
  return [200, { access_token: await accessToken(), token_type: 'Bearer', expires_in: 600 }]
}

createServer(async (request, response) => {
  const [status, body] = await reply(request)
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(body))
}).listen(Number(PORT), '127.0.0.1', () => console.log(`issuer ${issuer}`))
