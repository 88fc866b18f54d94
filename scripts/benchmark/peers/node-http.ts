// The least that does the work: node:http, handwritten for these operations.
import { createServer } from 'node:http'
import { exactList, host, isAuthorized, list, type Plant, paths, port, store } from './work.ts'

const bodyLimit = 262_144
const creates = new Set<string | undefined>(paths)

createServer((request, response) => {
  const { url = '', method, headers } = request
  if (!isAuthorized(headers.authorization)) return refuse(401, 'the access token is not valid')
  if (method === 'GET') return sendList()
  const handle = creates.has(url) ? create : url === '/batches' ? countBatch : undefined
  if (handle === undefined) return refuse(404, 'there is nothing here')
  if (method !== 'POST') return refuse(405, 'only POST')
  if (headers['content-type'] !== 'application/json') return refuse(415, 'only application/json')
  const chunks: Buffer[] = []
  let length = 0
  request.on('data', (chunk) => {
    length += chunk.length
    if (length <= bodyLimit) chunks.push(chunk)
  })
  request.on('end', () => {
    if (length > bodyLimit) return refuse(413, 'the body is too large')
    handle(parse(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
  })

  function create(plant: unknown) {
    if (!isPlant(plant)) return refuse(400, 'this is no plant')
    if (!store(plant)) return refuse(409, 'the id belongs to another plant')
    const { name, tag } = plant
    send(200, JSON.stringify(tag === undefined ? { name } : { name, tag }))
  }

  function countBatch(batch: unknown) {
    if (!Array.isArray(batch) || !batch.every(isItem)) return refuse(400, 'this is no list of plants')
    send(200, JSON.stringify({ count: batch.length }))
  }

  function sendList() {
    const [path, query = ''] = url.split('?')
    if (!/^after=\d+$/.test(query)) return refuse(400, 'after is missing')
    if (path === '/lists') send(200, JSON.stringify(list))
    else if (path === '/exact-lists') send(200, `[${exactList.map(exactText).join()}]`)
    else refuse(404, 'there is nothing here')
  }

  function refuse(status: number, message: string) {
    request.resume()
    send(status, JSON.stringify({ error: status * 100, message }))
  }

  function send(status: number, text: string) {
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    response.end(text)
  }
}).listen(port, host)

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}

const isPlant = (value: unknown): value is Plant =>
  typeof value === 'object' &&
  value !== null &&
  'id' in value &&
  Number.isInteger(value.id) &&
  'name' in value &&
  typeof value.name === 'string' &&
  (!('tag' in value) || typeof value.tag === 'string')

const isItem = (value: unknown): boolean =>
  isPlant(value) &&
  'height' in value &&
  typeof value.height === 'number' &&
  'note' in value &&
  typeof value.note === 'string'

const exactText = ({ id, name, tag }: Plant) =>
  `{"id":${id},"name":${JSON.stringify(name)},"tag":${JSON.stringify(tag)}}`
