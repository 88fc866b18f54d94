#!/usr/bin/env bash
# axios leaves the member `constructor` out of request bodies and queries and reports nothing, but keeps it inside of a list.
#
# Version: axios 1.21.1.
# Rule: RFC 8259, section 4: the name of a member is any string. `constructor` is a usual name, such as of a car's maker.
# Expected: {"constructor":"Lotus","year":1978}, which JSON.stringify makes of the same object. Seen: {"year":1978}; it is
# the same in an object inside of the body, in a URL-encoded form and in the query. Each object in a list, a body that is a
# string with this JSON, and a response keep the member, so the same record is sent whole in a batch and not alone.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund axios@1.21.1
cat >cars.js <<'JS'
import { createServer } from 'node:http'
import axios from 'axios'

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  console.log(`${request.url} ${body}`)
  response.setHeader('content-type', 'application/json').end('{"constructor":"Lotus"}')
})
await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
const client = axios.create({ baseURL: `http://127.0.0.1:${server.address().port}` })
const car = { constructor: 'Lotus', year: 1978 }
const json = { headers: { 'content-type': 'application/json' } }
await client.post('/object', car)
await client.post('/nested', { car })
await client.post('/list', { cars: [car] })
await client.post('/form', car, { headers: { 'content-type': 'application/x-www-form-urlencoded' } })
await client.post('/query', undefined, { params: car })
const { data } = await client.post('/string', JSON.stringify(car), json)
console.log(`response ${JSON.stringify(data)}`)
server.closeAllConnections()
server.close()
JS
node cars.js | tee output
diff output - <<'SEEN'
/object {"year":1978}
/nested {"car":{"year":1978}}
/list {"cars":[{"constructor":"Lotus","year":1978}]}
/form year=1978
/query?year=1978 
/string {"constructor":"Lotus","year":1978}
response {"constructor":"Lotus"}
SEEN
