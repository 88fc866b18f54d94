import { ContractError } from 'fastify-contract'

// The handlers of the reference implementation: a project that init wrote gets this file. Each call tells the harness
// what arrived, and returns what the harness then asks for.

/** Parts of a request as a handler gets them. */
type Input = Record<'path' | 'query' | 'header' | 'cookie', Record<string, unknown>> & { body: unknown }

/** A value of cases.json. */
type Tagged = unknown

type Reply = {
  status: number
  headers?: Record<string, Tagged>
  body?: Tagged
  contentType?: string
  /** A status that only `default` describes. */
  throw?: number
}

/** Properties of multipart forms that are lists. */
const lists = ['files']

export const handlersOf = (operations: string[]): Record<string, (input: Input) => Promise<unknown>> =>
  Object.fromEntries(operations.map((operation) => [operation, (input) => handle(operation, input)]))

async function handle(operation: string, input: Input): Promise<unknown> {
  const received = tagged(await receivedFrom(input))
  const { CONTROL_URL = '' } = process.env
  const response = await fetch(`${CONTROL_URL}/received`, {
    method: 'POST',
    body: JSON.stringify({ operation, received }),
  })
  const reply = (await response.json()) as Reply | null
  if (reply === null) return { status: 200, body: { received } }
  if (reply.throw !== undefined) throw new ContractError('refused', 'An error, "quoted".', {}, reply.throw)
  const headers = reply.headers === undefined ? {} : { headers: untagged(reply.headers) }
  const contentType = reply.contentType === undefined ? {} : { contentType: reply.contentType }
  return { status: reply.status, ...headers, ...contentType, body: bodyOf(operation, reply.body) }
}

async function receivedFrom({ path, query, header, cookie, body }: Input): Promise<object> {
  const entries = Object.entries({ ...path, ...query, ...header, ...cookie })
  const named = Object.fromEntries(entries.filter(([, value]) => value !== undefined))
  const read = await bodyFrom(body)
  return {
    ...(Object.keys(named).length > 0 && { arguments: named }),
    ...(read !== undefined && { body: read }),
  }
}

/** Reads a body to its end. */
async function bodyFrom(body: unknown): Promise<unknown> {
  if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body)) return body
  const items: unknown[] = []
  for await (const item of body as AsyncIterable<unknown>) items.push(isPart(item) ? await partFrom(item) : item)
  if (items.length > 0 && items.every((item) => item instanceof Uint8Array)) return Buffer.concat(items)
  if (items.length === 0 || !items.every((item) => item instanceof Part)) return items
  const form: Record<string, unknown> = {}
  for (const { name, value } of items as Part[])
    form[name] = lists.includes(name) ? [...((form[name] as unknown[] | undefined) ?? []), value] : value
  return form
}

class Part {
  readonly name: string
  readonly value: unknown
  constructor(name: string, value: unknown) {
    this.name = name
    this.value = value
  }
}

type ReceivedPart = {
  name: string
  value?: unknown
  filename?: string
  contentType?: string
  stream?: AsyncIterable<Buffer>
}

const isPart = (item: unknown): item is ReceivedPart =>
  typeof item === 'object' && item !== null && 'name' in item && ('value' in item || 'stream' in item)

async function partFrom({ name, value, filename, contentType, stream }: ReceivedPart): Promise<Part> {
  if (stream === undefined) return new Part(name, value)
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  return new Part(name, { $file: { name: filename ?? null, type: contentType ?? null, text } })
}

/** Returns a value that JSON can carry: integers beyond doubles, and bytes, as cases.json has them. */
function tagged(value: unknown): Tagged {
  if (typeof value === 'bigint') return { $int64: String(value) }
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString('base64') }
  if (Array.isArray(value)) return value.map(tagged)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, tagged(member)]))
}

function untagged(value: Tagged): unknown {
  if (Array.isArray(value)) return value.map(untagged)
  if (typeof value !== 'object' || value === null) return value
  const [[tag, text] = []] = Object.entries(value)
  if (tag === '$int64') return BigInt(text)
  if (tag === '$bytes' || tag === '$date' || tag === '$dateTime') return text
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, untagged(member)]))
}

/** Returns the body of a response in the form in which a handler returns it. */
function bodyOf(operation: string, body: Tagged): unknown {
  const value = untagged(body)
  if (operation === 'responseOctetStream') return Buffer.from(value as string, 'base64')
  return /^response(?:JsonLines|EventStream)$/.test(operation) ? itemsOf(value as unknown[]) : value
}

async function* itemsOf(items: unknown[]): AsyncGenerator<unknown> {
  yield* items
}
