import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { ServiceName } from './faults.ts'
import { credentials, headersOf } from './services.ts'

type Answer = { status: number; headers: Headers; text: string; json: Record<string, unknown> }

/** A running service, to which requests by hand are sent with accepted credentials, unless they have their own. */
export type Inspected = {
  url: string
  send(call: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

/** Returns a service for requests by hand. */
export function inspected(service: ServiceName, url: string): Inspected {
  async function send(call: string, body?: unknown, headers = headersOf[service]): Promise<Answer> {
    const [method = '', path = ''] = call.split(' ')
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const response = await fetch(url + path, {
      method,
      headers: { ...headers, ...type },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(10_000),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: text.startsWith('{') ? JSON.parse(text) : {},
    }
  }
  return { url, send }
}

type Symptom = (service: Inspected) => Promise<boolean>

const book = { title: 'title', pin: '0000' }
const hero = { name: 'name', secret_name: 'secret' }

const statusOf =
  (call: string, wrong: number, body?: unknown, headers?: Record<string, string>): Symptom =>
  async ({ send }) =>
    (await send(call, body, headers)).status === wrong

async function created({ send }: Inspected, path: string, body: unknown): Promise<Answer & { at: string }> {
  const answer = await send(`POST ${path}`, body)
  return { ...answer, at: `${path.replace(/\/$/, '')}/${answer.json.id}` }
}

/** Sends the first bytes of a body, closes the connection, and returns whether nothing listens any more. */
async function endsByCutBody({ url, send }: Inspected): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const { Authorization } = headersOf.plants
  const head = `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: ${Authorization}\r\nContent-Type: application/json\r\n`
  socket.write(`${head}Content-Length: 20\r\n\r\n{"id"`, () => setTimeout(() => socket.destroy(), 100))
  await wait(500)
  return await send('POST /plants', {}).then(
    () => false,
    () => true,
  )
}

/** Returns whether a service shows a fault, by one request, or a few. */
export const symptoms: Record<string, Symptom> = {
  'empty-name-error': statusOf('POST /plants', 500, { id: 1, name: '' }),
  'missing-id-accepted': statusOf('POST /plants', 200, { name: 'name' }),
  'open-operation': statusOf('POST /plants', 200, { id: 2, name: 'name' }, {}),
  'no-challenge': async ({ send }) => {
    const { status, headers } = await send('POST /plants', { id: 3, name: 'name' }, {})
    return status === 401 && !headers.has('www-authenticate')
  },
  'crash-on-cut-body': endsByCutBody,
  'undocumented-status': async (service) => {
    const { at } = await created(service, '/books', book)
    return (await service.send(`DELETE ${at}`)).status === 202
  },
  'write-only-returned': async (service) => 'pin' in (await created(service, '/books', book)).json,
  'no-location': async (service) => !(await created(service, '/books', book)).headers.has('location'),
  'long-title-accepted': statusOf('POST /books', 201, { ...book, title: 'a'.repeat(41) }),
  'rejected-change-stored': async (service) => {
    const { at } = await created(service, '/books', book)
    const { status } = await service.send(`PUT ${at}`, { title: 'other', pin: 'a' })
    return status === 400 && (await service.send(`GET ${at}`)).json.title === 'other'
  },
  'scope-unchecked': statusOf('POST /books', 201, book, { Authorization: `Bearer ${credentials.narrowToken}` }),
  'wrong-token-accepted': statusOf('POST /books', 201, book, { Authorization: 'Bearer wrong' }),
  'put-not-stored': async (service) => {
    const { at } = await created(service, '/books', book)
    const { status } = await service.send(`PUT ${at}`, { ...book, title: 'other' })
    return status === 200 && (await service.send(`GET ${at}`)).json.title === 'title'
  },
  'head-differs': async ({ send }) => (await send('HEAD /books')).status !== (await send('GET /books')).status,
  'pair-error': statusOf('GET /books?genre=novel&pages[from]=1', 500),
  'long-name-error': statusOf('POST /heroes/', 500, { ...hero, name: 'a'.repeat(60) }),
  'limit-unchecked': statusOf('GET /heroes/?limit=101', 200),
  'deleted-readable': async (service) => {
    const { at } = await created(service, '/heroes/', hero)
    const { status } = await service.send(`DELETE ${at}`)
    return status === 200 && (await service.send(`GET ${at}`)).status === 200
  },
  'wrong-type': async (service) => typeof (await created(service, '/heroes/', hero)).json.id === 'string',
  'missing-property': async (service) => {
    const { status, json } = await created(service, '/heroes/', hero)
    return status === 200 && !('id' in json)
  },
}

/** Returns whether the tutorial contradicts its own document, each by its sentence on the page. */
export const tutorialSymptoms: Record<string, Symptom> = {
  'a PATCH with a null name gets 500': async (service) => {
    const { at } = await created(service, '/heroes/', hero)
    return (await service.send(`PATCH ${at}`, { name: null })).status === 500
  },
  'an integer that SQLite cannot store gets 500': ({ send }) =>
    // JSON.stringify would write it with an exponent, which is a number of another kind in Python.
    send('GET /heroes/9223372036854775808').then(({ status }) => status === 500),
  '404 is not documented': async ({ send }) => {
    const { status } = await send('GET /heroes/1000000')
    const { paths } = JSON.parse((await send('GET /openapi.json')).text)
    return status === 404 && !('404' in paths['/heroes/{hero_id}'].get.responses)
  },
  'a string is accepted for an integer': statusOf('POST /heroes/', 200, { ...hero, age: '3' }),
  'Allow lists one method': async ({ send }) => {
    const { status, headers } = await send('PUT /heroes/1')
    return status === 405 && !headers.get('allow')?.includes(',')
  },
}
