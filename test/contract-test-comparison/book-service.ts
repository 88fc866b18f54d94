import type { FastifyInstance } from 'fastify'
import {
  type AnyErrorBody,
  type AnyHandler,
  apiKey,
  bearer,
  ContractError,
  createServer,
  type ServerOptions,
} from 'fastify-contract'
import { plantedFault } from './faults.ts'
import { type DocumentChange, faultyContract } from './faulty-contract.ts'
import { serveFaulty } from './serve-faulty.ts'

/** A store of books, with the fault that the variable FAULT names. */
const fault = plantedFault('books')

type Book = { id: bigint; title: string; pin?: string; genre?: string; pages?: number; published?: string }

const books = new Map<bigint, Book>()

const changes: Record<string, DocumentChange> = {
  'undocumented-status': ({ paths }) => {
    const { responses } = paths['/books/{id}'].delete
    responses['202'] = responses['204']
    delete responses['204']
  },
  'write-only-returned': ({ components }) => delete components.schemas.Book.properties.pin.writeOnly,
  // The engine would make the header of a link.
  'no-location'({ paths }) {
    const created = paths['/books'].post.responses['201']
    delete created.headers.Location.required
    delete created.links
  },
  'long-title-accepted': ({ components }) => delete components.schemas.Book.properties.title.maxLength,
  'rejected-change-stored': ({ components }) => delete components.schemas.Book.properties.pin.pattern,
  'scope-unchecked': ({ paths }) => {
    paths['/books'].post.security = [{ token: [] }]
  },
}

const plugins: Record<string, (app: FastifyInstance) => void> = {
  'head-differs': (app) =>
    app.addHook('onRequest', async ({ method }, reply) => {
      if (method === 'HEAD') reply.code(204).send()
    }),
}

const missing = (id: bigint) => ({ status: 404, body: { error: 40400, message: `no book has the id ${id}` } })

/** Returns a book as a response has it. */
const shown = ({ pin, ...book }: Book): Book => (fault === 'write-only-returned' ? { ...book, pin: pin ?? '' } : book)

type Given = { path: { id: bigint }; query: Record<string, never>; body: Omit<Book, 'id'> }

async function listBooks({ query: { genre, limit = 20, ids, pages } }: { query: Query }) {
  if (fault === 'pair-error' && genre !== undefined && pages !== undefined) throw new Error('both filters')
  const found = [...books.values()].filter(
    (book) =>
      (genre === undefined || book.genre === genre) &&
      (ids === undefined || ids.includes(book.id)) &&
      (pages?.from === undefined || (book.pages ?? 0) >= pages.from) &&
      (pages?.to === undefined || (book.pages ?? 0) <= pages.to),
  )
  return { status: 200, body: found.slice(0, Number(limit)).map(shown) }
}

type Query = { genre?: string; limit?: number; ids?: bigint[]; pages?: { from?: number; to?: number } }

async function putBook({ path: { id }, body }: Given) {
  const before = books.get(id)
  if (before === undefined) return missing(id)
  const book = { ...body, id }
  if (fault !== 'put-not-stored') books.set(id, book)
  if (!/^[0-9]{4}$/.test(String(body.pin))) throw new ContractError('invalid', 'body/pin must match a pattern')
  return { status: 200, body: shown(book) }
}

let lastId = 0n

async function createBook({ body }: Given) {
  if (!/^[0-9]{4}$/.test(String(body.pin))) throw new ContractError('invalid', 'body/pin must match a pattern')
  lastId += 1n
  const book = { ...body, id: lastId }
  books.set(lastId, book)
  const headers = fault === 'no-location' ? {} : { Location: `/books/${lastId}` }
  return { status: 201, headers, body: shown(book) }
}

const handlers = {
  listBooks,
  createBook,
  async getBook({ path: { id } }: Given) {
    const book = books.get(id)
    return book === undefined ? missing(id) : { status: 200, body: shown(book) }
  },
  putBook,
  async deleteBook({ path: { id } }: Given) {
    if (!books.delete(id)) return missing(id)
    return { status: fault === 'undocumented-status' ? 202 : 204, body: undefined }
  },
  getStatistics: async () => ({ status: 200, body: { books: books.size } }),
} as unknown as Record<string, AnyHandler>

const errorBody: AnyErrorBody = ({ error, message }) => ({ contentType: 'application/json', body: { error, message } })

const clients: Record<string, { name: string; scopes: string[] }> = {
  [process.env.TOKEN as string]: { name: 'editor', scopes: ['read', 'write'] },
  [process.env.NARROW_TOKEN as string]: { name: 'visitor', scopes: [] },
}

/** Returns the client of a token. */
const verify = (token: string) =>
  clients[token] ?? (fault === 'wrong-token-accepted' ? { name: 'any', scopes: ['read', 'write'] } : undefined)

const contract = faultyContract('test/contract-test-comparison/books.yaml', changes[fault])
const app = createServer({
  contract,
  handlers,
  verifiers: { token: bearer(verify), key: apiKey({ in: 'header', name: 'X-Key' }, verify) },
  errorBody,
  realm: 'books',
  limits: { authFailures: 0, eventLoopDelay: 60_000 },
} as unknown as ServerOptions<unknown>)
plugins[fault]?.(app)
await serveFaulty(app)
