// On node:http, as in the first example of the package. `quick` skips its check of the document, which does not support
// OpenAPI 3.1.
import { createServer } from 'node:http'
import { OpenAPIBackend } from 'openapi-backend'
import { host, isAccepted, keep, port } from './shared.js'

const api = new OpenAPIBackend({
  definition: process.env.DOCUMENT,
  quick: true,
  securityHandlers: { bearer: ({ request }) => isAccepted(request.headers.authorization) },
  handlers: {
    createPlant({ request: { requestBody } }, _request, response) {
      if (!keep(requestBody)) return answer(response, 409, 'the id belongs to another plant')
      const { name, tag } = requestBody
      send(response, 200, { name, tag })
    },
    validationFail: (_context, _request, response) => answer(response, 400, 'this is no plant'),
    unauthorizedHandler: (_context, _request, response) => answer(response, 401, 'the access token is not valid'),
    notFound: (_context, _request, response) => answer(response, 404, 'there is nothing here'),
    methodNotAllowed: (_context, _request, response) => answer(response, 405, 'only POST'),
  },
})
await api.init()

createServer((request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const { method, url: path, headers } = request
    const body = Buffer.concat(chunks).toString()
    api
      .handleRequest({ method, path, headers, body }, request, response)
      .catch((error) => answer(response, 500, error.message))
  })
}).listen(port, host)

const answer = (response, status, message) => send(response, status, { error: status * 100, message })

function send(response, status, value) {
  const text = JSON.stringify(value)
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
  response.writeHead(status, headers).end(text)
}
