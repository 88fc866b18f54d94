// The minimal server that does the work: handwritten, for this one operation.
import { createServer } from 'node:http'
import { host, isAccepted, keep, port } from './shared.js'

const bodyLimit = 262_144

createServer((request, response) => {
  if (request.url !== '/plants') return refuse(404, 'there is nothing here')
  if (request.method !== 'POST') return refuse(405, 'only POST')
  if (!isAccepted(request.headers.authorization)) return refuse(401, 'the access token is not valid')
  if (request.headers['content-type'] !== 'application/json') return refuse(415, 'only application/json')
  const chunks = []
  let length = 0
  request.on('data', (chunk) => {
    length += chunk.length
    if (length <= bodyLimit) chunks.push(chunk)
  })
  request.on('end', () => {
    if (length > bodyLimit) return refuse(413, 'the body is too large')
    const plant = parse(Buffer.concat(chunks))
    if (!isPlant(plant)) return refuse(400, 'this is no plant')
    if (!keep(plant)) return refuse(409, 'the id belongs to another plant')
    const { name, tag } = plant
    answer(200, tag === undefined ? { name } : { name, tag })
  })

  function refuse(status, message) {
    answer(status, { error: status * 100, message })
  }

  function answer(status, value) {
    const text = JSON.stringify(value)
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    response.writeHead(status, headers).end(text)
  }
}).listen(port, host)

function parse(bytes) {
  try {
    return JSON.parse(bytes)
  } catch {
    return undefined
  }
}

const isPlant = (value) =>
  typeof value === 'object' &&
  value !== null &&
  Number.isInteger(value.id) &&
  typeof value.name === 'string' &&
  (value.tag === undefined || typeof value.tag === 'string')
