import type { Call } from '../served-documents.ts'
import type { Handlers } from './handler-types.d.ts'

export const handlers: Handlers = {
  async listCharges({ query }) {
    const { created, filter } = query
    const since: bigint | undefined = typeof created === 'object' ? created.gt : created
    const limit: bigint | undefined = query.limit
    const first: bigint | null | undefined = filter?.any?.[0]?.not?.is
    return { status: 200, body: { ...query, since, limit, first } }
  },
  async createFile({ body }) {
    const parts: unknown[] = []
    for await (const part of body) parts.push(part)
    return { status: 200, body: parts }
  },
  async createCharge({ body }) {
    const quantities: (bigint | undefined)[] = (body.items ?? []).map(({ quantity }) => quantity)
    const city: string | undefined = typeof body.address === 'object' ? body.address.city : body.address
    return { status: 200, body: { ...body, city, quantities } }
  },
}

const get = (query: string) => ({ request: `GET /charges?${query}` })
const post = (send: string) => ({
  request: 'POST /charges',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  send: `amount=1&${send}`,
})
const read = (body: string) => ({ status: 200, body })
const invalid = (message: RegExp) => ({ status: 400, error: 40003, body: message })

const queries: Call[] = [
  { ...get('created=9007199254740993'), ...read('{"created":9007199254740993,"since":9007199254740993}') },
  {
    ...get('created[gt]=9007199254740993&created%5Blte%5D=2'),
    ...read('{"created":{"gt":9007199254740993,"lte":2},"since":9007199254740993}'),
  },
  { ...get('limit=9007199254740993&any[a][]=1'), ...read('{"limit":9007199254740993,"any":{"a":["1"]}}') },
  { ...get('limit[a]=1'), ...invalid(/"query\/limit/) },
  { ...post('trial_end=now'), ...read('{"amount":1,"trial_end":"now","quantities":[]}') },
  { ...post('trial_end=5'), ...read('{"amount":1,"trial_end":5,"quantities":[]}') },
  { ...get('expand[]=a&expand[]=b%26c'), ...read('{"expand":["a","b&c"]}') },
  { ...get('expand[1]=b&expand[0]=a'), ...read('{"expand":["a","b"]}') },
  { ...get('expand=a&expand=b'), ...read('{"expand":["a","b"]}') },
  { ...get('expand=a'), ...read('{"expand":["a"]}') },
  {
    ...get('filter[any][0][not][is]=9007199254740993&filter[any][1][is]='),
    ...read('{"filter":{"any":[{"not":{"is":9007199254740993}},{"is":null}]},"first":9007199254740993}'),
  },
  {
    ...get(
      `sort=${encodeURIComponent('{"by":"a","above":9007199254740993}')}&sort=${encodeURIComponent('{"then":[true]}')}`,
    ),
    ...read('{"sort":[{"by":"a","above":9007199254740993},{"then":[true]}]}'),
  },
  {
    ...get('sort[1][then]=true&sort[0][by]=a&sort[0][above]=9007199254740993'),
    ...read('{"sort":[{"by":"a","above":9007199254740993},{"then":[true]}]}'),
  },
  { ...get('sort[][by]=a'), ...read('{"sort":[{"by":"a"}]}') },
  { ...get('sort=a'), ...invalid(/"query\/sort cannot be parsed as JSON/) },
  { ...get('sort=[{"by":"a"}]'), ...read('{"sort":[{"by":"a"}]}') },
  { ...get('sort={"other":1}'), ...invalid(/"query\/sort\/0 must NOT have additional properties/) },
  { ...get('sort[0]={}&sort[0][by]=a'), ...invalid(/"query\/sort must have 0 either as one value or with members/) },
  { ...get('sort[0][by]=a&sort[1][by]=b&sort[2][by]=c'), ...invalid(/"query\/sort must NOT have more than 2 items/) },
  { ...get(`sort[0]${'[then]'.repeat(16)}=1`), ...invalid(/at most 16 levels of brackets/) },
  {
    ...get('match[size][gt]=9007199254740993&match[limit]=1&limit=2'),
    ...read('{"limit":2,"match":{"size":{"gt":9007199254740993},"limit":1}}'),
  },
  { ...get('created[gt]=x'), ...invalid(/"query\/created/) },
  {
    ...get('created=1&created[gt]=1'),
    ...invalid(/"query\/created must have created either as one value or with members, not both/),
  },
  { ...get('expand[]=0123456789'), ...invalid(/"query\/expand\/0 must NOT have more than 9 characters/) },
  { ...get('expand[a]=b'), ...invalid(/"query\/expand must be array/) },
  { ...get('filter[any][0][other]=1'), ...invalid(/"query\/filter\/any\/0 must NOT have additional properties/) },
  { ...get('filter[__proto__]=1'), ...invalid(/"query\/filter must NOT have additional properties/) },
  { ...get(`filter${'[not]'.repeat(16)}=1`), ...invalid(/"query\/filter(?:\/not){16} must be object/) },
  { ...get(`filter${'[not]'.repeat(17)}=1`), ...invalid(/at most 16 levels of brackets/) },
  { ...get(`filter${'[not]'.repeat(3_400)}=1`), status: 431, error: 43100 },
]

const forms: Call[] = [
  {
    ...post('items[0][price]=p&items[0][quantity]=9007199254740993&items[1][price]=5&items[1][taxable]=true'),
    ...read(
      '{"amount":1,"items":[{"price":"p","quantity":9007199254740993},{"price":"5","taxable":true}],"quantities":[9007199254740993,null]}',
    ),
  },
  {
    ...post('items[0][price]=p&items[0][tiers][0][up_to]=5&items[0][tiers][1][up_to]=inf'),
    ...read('{"amount":1,"items":[{"price":"p","tiers":[{"up_to":5},{"up_to":"inf"}]}],"quantities":[null]}'),
  },
  {
    ...post(`discounts=${encodeURIComponent('{"id":9007199254740993}')}&discounts={"id":1}`),
    ...read('{"amount":1,"discounts":[{"id":9007199254740993},{"id":1}],"quantities":[]}'),
  },
  { ...post('shape={"corners":[1]}'), ...read('{"amount":1,"shape":{"corners":[1]},"quantities":[]}') },
  { ...post('discounts[0][id]=1'), ...read('{"amount":1,"discounts":[{"id":1}],"quantities":[]}') },
  { ...post('metadata[0]=a&metadata[k%26]=5'), ...read('{"amount":1,"metadata":{"0":"a","k&":"5"},"quantities":[]}') },
  {
    ...post('metadata[__proto__]=a&metadata[constructor]=b&metadata[toString]=c'),
    ...read('{"amount":1,"metadata":{"__proto__":"a","constructor":"b","toString":"c"},"quantities":[]}'),
  },
  { ...post('metadata='), ...read('{"amount":1,"metadata":"","quantities":[]}') },
  { ...post('address='), ...read('{"amount":1,"address":"","city":"","quantities":[]}') },
  {
    ...post('address[city]=c&address[lines][]=1'),
    ...read('{"amount":1,"address":{"city":"c","lines":["1"]},"city":"c","quantities":[]}'),
  },
  { ...post('expand[]=a&expand[]=b'), ...read('{"amount":1,"expand":["a","b"],"quantities":[]}') },
  { ...post('address=x'), ...invalid(/"body\/address/) },
  { ...post('metadata[a][b]=1'), ...invalid(/"body\/metadata/) },
  { ...post('metadata[a]=1&metadata[a]=2'), ...invalid(/"body\/metadata must have a only once/) },
  { ...post('items[0][quantity]=1'), ...invalid(/"body\/items\/0 must have required property 'price'/) },
  { ...post('items[0]=p'), ...invalid(/"body\/items cannot be parsed as JSON/) },
  { ...post('items[][price]=p&items[][price]=q'), ...invalid(/"body\/items must have price only once/) },
  { ...post('metadata[a=1'), ...invalid(/"body\/metadata must have balanced brackets in its names/) },
  { ...post('metadata[a]=%'), ...invalid(/./) },
  { ...post('amount[a]=1'), ...invalid(/"body must NOT have additional properties/) },
  { ...post(`metadata${'[a]'.repeat(17)}=1`), ...invalid(/at most 16 levels of brackets/) },
  { ...post(Array.from({ length: 999 }, (_, n) => `metadata[${n}]=`).join('&')) },
  { ...post(Array.from({ length: 1_000 }, (_, n) => `metadata[${n}]=`).join('&')), status: 413, error: 41300 },
  { ...post(`metadata[a]=${'b'.repeat(1_048_576)}`), status: 413, error: 41300 },
]

const part = (name: string, text: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n${text}\r\n`

const files: Call[] = [
  {
    request: 'POST /files',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    send: `${part('expand', '\r\na')}${part('expand', '\r\nb')}${part('link', 'Content-Type: application/json\r\n\r\n{"id":9007199254740993}')}--b--\r\n`,
    ...read(
      '[{"name":"expand","value":"a"},{"name":"expand","value":"b"},{"name":"link","value":{"id":9007199254740993}}]',
    ),
  },
]

export const calls: Call[] = [...queries, ...forms, ...files]
