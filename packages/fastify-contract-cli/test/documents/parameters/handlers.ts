import type { Call } from '../served-documents.ts'
import type { Handlers } from './handler-types.d.ts'

export const handlers: Handlers = {
  async getBook({ path, query, header, cookie }) {
    const shelf: bigint = path['shelf-id']
    const format: 'json' | 'text' = path.format
    const each: bigint[] | undefined = query.each
    const price: number | null | undefined = query.price
    const session: bigint = cookie['session-id']
    const theme: 'dark' | 'light' | undefined = cookie.theme
    const count: number | undefined = header['X-Count']
    return {
      status: 200,
      body: { ...query, shelf, isbn: path.isbn, format, each, price, session, theme, count, ...header },
    }
  },
}

const book = '/shelves/9007199254740993/books/123.json'
const cookie = 'session-id=9007199254740993'
const get = (query: string, headers: Record<string, string> = {}) => ({
  request: `GET ${book}${query}`,
  headers: { cookie, ...headers },
})
const gives = (query: string, body: unknown, headers?: Record<string, string>): Call => ({
  ...get(query, headers),
  body,
})
const refused = (query: string, headers?: Record<string, string>): Call => ({
  ...get(query, headers),
  status: 400,
  error: 40003,
})

export const calls: Call[] = [
  gives('', '{"filter[name]":"none","shelf":9007199254740993,"isbn":"123","format":"json","session":9007199254740993}'),
  gives('?each=9007199254740993&each=2', /"each":\[9007199254740993,2\]/),
  gives('?each=1', { each: [1] }),
  gives('?form=1,2.5', { form: [1, 2.5] }),
  gives('?space=a%20b,c', { space: ['a', 'b,c'] }),
  gives('?pipe=true|false', { pipe: [true, false] }),
  gives('?deep=true&price=1e3&since=2024-02-29T12:00:00Z', { deep: true, price: 1000 }),
  gives('?filter%5Bname%5D=a+b', { 'filter[name]': 'a b' }),
  gives('?filter[name]=1', { 'filter[name]': '1' }),
  gives('?unknown=1', { format: 'json' }),
  gives('', { count: 5, 'X-Tags': ['a', 'b'] }, { 'x-count': '5', 'x-tags': 'a, b' }),
  gives('', { theme: 'dark' }, { cookie: `${cookie}; theme=dark` }),
  gives('', { format: 'json' }, { accept: 'text/html' }),
  refused('?each=1&each=2&each=3'),
  refused('?each=x'),
  refused('?each=1.5'),
  refused('?form=1,x'),
  refused('?pipe=yes'),
  refused('?deep=yes'),
  refused('?price=x'),
  refused('?since=yesterday'),
  refused('?deep=true&deep=false'),
  refused('', { 'x-count': '2147483648' }),
  refused('', { cookie: 'theme=dark' }),
  refused('', { cookie: `${cookie}; theme=blue` }),
  { request: 'GET /shelves/1/books/x.json', headers: { cookie }, status: 400, error: 40003 },
  { request: 'GET /shelves/1/books/1.pdf', headers: { cookie }, status: 400, error: 40003 },
  { request: 'GET /shelves/1/books/1', headers: { cookie }, status: 404, error: 40400 },
]
