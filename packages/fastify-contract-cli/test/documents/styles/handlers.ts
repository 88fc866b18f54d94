import type { Call } from '../served-documents.ts'
import type { Handlers } from './handler-types.d.ts'

export const handlers: Handlers = {
  async mixColors({ path, header, cookie }) {
    const ids: bigint[] = [...path.simple, ...path.matrix]
    const red: bigint | undefined = header['X-Color']?.R
    const dark: boolean | undefined = cookie.theme?.dark
    return { status: 200, body: { ...path, ids, red, dark, zoom: cookie.theme?.zoom } }
  },
  async search({ query, header }) {
    const red: bigint | undefined = query.color?.R
    const sort: 'name' | 'age' = query.sort
    const since: bigint | null = query.since
    const tags: string[] = query.tags
    // Changes the defaults of this request, which must not change those of the next one.
    tags.push('seen')
    query.page.after = (query.page.after ?? 0n) + 1n
    const id: bigint | undefined = query.where?.id ?? header['X-Where']?.any?.[0]?.id
    const note: string | undefined = query.note
    return { status: 200, body: { ...query, red, sort, since, tags, id, note } }
  },
  findLabels: async ({ query }) => ({ status: 200, body: { ...query.labels } }),
  findShapes: async ({ query: { shape } }) => ({ status: 200, body: shape }),
}

const gives = (request: string, body: unknown, headers: Record<string, string> = {}): Call => ({
  request: `GET /v1${request}`,
  headers,
  body,
})
const refused = (request: string, message: string, headers: Record<string, string> = {}): Call => ({
  request: `GET /v1${request}`,
  headers,
  status: 400,
  error: 40003,
  body: { message },
})

const defaults = '"sort":"name","since":7,"tags":["seen"]'
const page = '"page":{"after":9007199254740992,"limit":20}'
const mix = '/colors/9007199254740993,2/.R=9007199254740993.name=a%2Eb/;matrix=1/report.json'

export const calls: Call[] = [
  gives(
    mix,
    '{"simple":[9007199254740993,2],"label":{"R":9007199254740993,"name":"a.b"},"matrix":[1],"format":"json",' +
      '"ids":[9007199254740993,2,1]}',
  ),
  gives(mix, { red: 1, dark: true, zoom: 1.5 }, { 'x-color': 'R=1, on=true', cookie: 'dark=true; other=1; zoom=1.5' }),
  refused(mix.replace('.json', '.pdf'), 'path/format must be equal to one of the allowed values'),
  refused(mix.replace(';matrix=1', '1'), 'path/matrix must begin with ;matrix='),
  refused(mix.replace('993,2', '993,2,3,4'), 'path/simple must NOT have more than 3 items'),
  refused(mix, "header/X-Color must have required property 'R'", { 'x-color': 'G=1' }),
  refused(mix, 'cookie/theme/dark must be boolean', { cookie: 'dark=yes' }),
  gives('/search', `{${page},${defaults}}`),
  gives('/search', `{${page},${defaults}}`),
  gives(
    '/search?sort=age&since=&tags=a&tags=b&after=1',
    '{"page":{"after":2},"sort":"age","since":null,"tags":["a","b","seen"]}',
  ),
  gives('/search?color[R]=9007199254740993&color%5Bname%5D=a+b&color[on]=false', {
    color: { name: 'a b', on: false },
    sort: 'name',
  }),
  gives('/search?color[R]=9007199254740993', /"red":9007199254740993/),
  gives('/search?pipes=R|1%7Cname|x%2Cy&spaces=1%202+3', { pipes: { R: 1, name: 'x,y' }, spaces: [1, 2, 3] }),
  gives('/search?where=%7B%22id%22:9007199254740993%7D', /"id":9007199254740993/),
  gives('/search', /"id":9007199254740993/, { 'x-where': '{"any":[{"id":9007199254740993}]}' }),
  gives('/search?note=a,b/?c%2B', { note: 'a,b/?c+' }),
  refused('/search?where={', 'query/where cannot be parsed as JSON: unexpected end at character 1'),
  refused(
    '/search?where={"id":1,"id":2}',
    'query/where cannot be parsed as JSON: the same name twice in one object at character 12',
  ),
  refused('/search?where={"id":1.5}', 'query/where/id must be an int64 integer'),
  refused('/search?where=1&where=2', 'query/where must be given once'),
  refused('/search?note=0123456789', 'query/note must NOT have more than 9 characters'),
  refused('/search?color[R]=1&color[R]=2', 'query/color must have R only once'),
  refused('/search?color[R]=1&color[B]=2', 'query/color must NOT have additional properties'),
  refused('/search?color[R][G]=1', 'query/color/R must be an int64 integer'),
  refused('/search?limit=51', 'query/page/limit must be <= 50'),
  refused('/search?sort=', 'query/sort must be equal to one of the allowed values'),
  gives('/labels?a=1&__proto__=2&to%53tring=3', '{"a":"1","__proto__":"2","toString":"3"}'),
  gives('/labels', '{}'),
  refused('/labels?a=1&b=2&c=3&d=4', 'query/labels must NOT have more than 3 properties'),
  gives('/shapes?shape[radius]=1e1', '{"radius":10}'),
  gives('/shapes?shape[width]=2&shape[id]=9007199254740993', '{"width":2,"id":9007199254740993}'),
  refused('/shapes?radius=1', "query must have required property 'shape'"),
  { request: 'GET /v1/search?note=%E4', status: 400, error: 40001 },
]
