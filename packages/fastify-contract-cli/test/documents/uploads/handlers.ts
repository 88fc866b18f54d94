import { buffer, text } from 'node:stream/consumers'
import { type Call, refused, typed, unread } from '../served-documents.ts'
import type { Handlers } from './handler-types.d.ts'

export const handlers: Handlers = {
  async putPhoto({ path, body, contentType, signal }) {
    const { length } = await buffer(body)
    return { status: 200, body: { id: path.id, contentType, length, isOver: signal.aborted } }
  },
  async addFile({ body }) {
    return { status: 200, body: body ?? Buffer.from('none') }
  },
  async addAnything({ body, contentType }) {
    const read = typeof body === 'string' ? body : body === undefined ? 'none' : await text(body)
    return { status: 200, body: { contentType, read } }
  },
  async addPlant({ body, contentType }) {
    if (contentType === 'application/json') return { status: 200, body: { json: body.name ?? null } }
    const read: unknown[] = []
    for await (const part of body) {
      switch (part.name) {
        case 'photo':
        case 'more':
          read.push([part.name, part.filename ?? null, part.contentType, await text(part.stream)])
          break
        case 'id':
        case 'ids':
          read.push([part.name, part.value + 0n])
          break
        case 'place':
        case 'places':
          read.push([part.name, part.value.bed + 0n])
          break
        case 'isDry':
          read.push([part.name, !part.value])
          break
        default:
          read.push([part.name, part.value.toUpperCase()])
      }
    }
    return { status: 200, body: read }
  },
  async addArchive({ body }) {
    // A handler need not read files.
    const names = []
    for await (const { name } of body) names.push(name)
    return { status: 200, body: names }
  },
}

const jpeg = typed('PUT /photos/9007199254740993', 'image/jpeg')
const photos: Call[] = [
  { ...jpeg('12345'), body: '{"id":9007199254740993,"contentType":"image/jpeg","length":5,"isOver":false}' },
  { ...jpeg(''), body: '{"id":9007199254740993,"contentType":"image/jpeg","length":0,"isOver":false}' },
  { ...typed('PUT /photos/1', 'image/png;a=b')('1'), body: { contentType: 'image/png' } },
  { ...typed('PUT /photos/1', 'image/gif')('1'), ...unread, answer: { accept: 'image/jpeg, image/png' } },
  { ...typed('PUT /photos/a', 'image/png')('1'), ...refused },
  { request: 'PUT /photos/1', ...unread },
  { ...typed('POST /files', 'application/octet-stream')('abc'), body: 'abc' },
  { request: 'POST /files', body: 'none' },
]

const anything = (type: string) => typed('POST /anything', type)('a')
const ranges: Call[] = [
  ...['image/png', 'application/json', 'multipart/mixed; boundary=a', 'application/x-www-form-urlencoded'].map(
    (type): Call => ({ ...anything(type), body: JSON.stringify({ contentType: type.replace(/;.*/, ''), read: 'a' }) }),
  ),
  { ...anything('text/markdown'), body: '{"contentType":"text/markdown","read":"a"}' },
  { ...anything('text'), ...unread },
  { request: 'POST /anything', body: '{"read":"none"}' },
]

/** Returns a multipart form with the given parts: each has its Content-Disposition parameters and its text. */
const parts = (...all: [head: string, text: string][]): string =>
  `${all.map(([head, text]) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`).join('')}--b--\r\n`

const multipart = 'multipart/form-data; boundary=b'
const plant = (...all: [head: string, text: string][]) => typed('POST /plants', multipart)(parts(...all))
const other: [string, string] = ['name=other', 'a']
const photo: [string, string] = ['name="photo"; filename="a.png"\r\nContent-Type: image/png', '\x01\r\n-']
const read = (...all: unknown[]) => ({ status: 200, body: JSON.stringify(all) })
const fern: [string, string] = ['name="name"', 'fern']

const forms: Call[] = [
  { ...plant(fern, photo), ...read(['name', 'FERN'], ['photo', 'a.png', 'image/png', '\x01\r\n-']) },
  { ...plant(photo, fern), ...read(['photo', 'a.png', 'image/png', '\x01\r\n-'], ['name', 'FERN']) },
  {
    ...plant(fern, photo, ['name="id"', '9007199254740993'], ['name="ids"', '1'], ['name="ids"', '9007199254740993']),
    body: '[["name","FERN"],["photo","a.png","image/png","\\u0001\\r\\n-"],["id",9007199254740993],["ids",1],["ids",9007199254740993]]',
  },
  {
    ...plant(fern, photo, [
      'name="place"; filename="blob"\r\nContent-Type: application/json',
      '{"bed":9007199254740993}',
    ]),
    body: /\["place",9007199254740993\]/,
  },
  {
    ...plant(fern, photo, ['name=places', '{"bed":1}'], ['name=places', '{"bed":2}']),
    body: /\["places",1\],\["places",2\]/,
  },
  {
    ...plant(fern, photo, ['name=isDry', 'true'], ['name=unknown', 'a'], ['name=notes', '"a"']),
    body: /\["isDry",false\],\["notes","A"\]/,
  },
  {
    ...plant(
      fern,
      photo,
      ["name=more; filename*=UTF-8''%C3%A4.txt\r\nContent-Type: text/plain", 'x'],
      ['name=more; filename="../b\\"c"', ''],
    ),
    body: /\["more","ä.txt","text\/plain","x"\],\["more","b\\"c","text\/plain",""\]/,
  },
  {
    ...plant(fern, ['name="serial"', 'a'], photo, ['name="serial"; filename=b', '{']),
    ...read(['name', 'FERN'], ['photo', 'a.png', 'image/png', '\x01\r\n-']),
  },
  { ...plant(fern, photo, ['name=tags', 'a'], ['name=tags', 'b']), body: /\["tags","A"\],\["tags","B"\]/ },
  ...[
    plant(fern),
    plant(photo),
    plant(),
    plant(fern, fern, photo),
    plant(fern, photo, photo),
    plant(['name="name"', 'more than twenty letters'], photo),
    plant(fern, photo, ['name=id', '1.5']),
    plant(fern, photo, ['name=ids', 'a']),
    plant(fern, photo, ['name=isDry', 'yes']),
    plant(fern, photo, ['name=place', '{"bed":"1"}']),
    plant(fern, photo, ['name=place', '{']),
    plant(fern, photo, ['name=tags', 'a'], ['name=tags', 'b'], ['name=tags', 'c']),
    plant(['name="name"', 'a\0'], photo),
    plant(fern, photo, ['name=tags\r\nContent-Transfer-Encoding: base64', 'YQ==']),
    plant(fern, photo, ['filename=tags', 'a']),
    plant(fern, photo, ['name=tags; name=tags', 'a']),
    plant(fern, photo, ["name=more; filename*=UTF-8''%ff", 'a']),
    plant(fern, photo, ['name=more\r\nContent-Type: text', 'a']),
    plant(fern, photo, ['name=more\r\nContent-Type: text/plain\r\nContent-Type: text/plain', 'a']),
    plant(fern, photo, ['name=tags; a', 'a']),
    typed('POST /plants', multipart)(''),
    typed('POST /plants', multipart)('--b\r\nContent-Disposition: form-data; name=name\r\n\r\nfern'),
    typed('POST /plants', 'multipart/form-data')(parts(fern, photo)),
    typed('POST /plants', 'multipart/form-data; boundary="a b "')(parts(fern, photo)),
    typed('POST /plants', 'multipart/form-data; boundary=c')(parts(fern, photo)),
  ].map((call): Call => ({ ...call, ...refused })),
  { ...plant(fern, ['name="photo"; filename="a.gif"\r\nContent-Type: image/gif', 'a']), ...unread },
  { ...plant(fern, ['name="photo"', 'a']), ...unread },
  { ...plant(fern, photo, ['name=notes\r\nContent-Type: text/html', '"a"']), ...unread },
  { ...plant(fern, photo, ['name=tags\r\nContent-Type: text/plain; charset=latin1', 'a']), ...unread },
  { ...plant(fern, photo, ...Array<[string, string]>(998).fill(['name=unknown', ''])) },
  { ...plant(fern, photo, ...Array<[string, string]>(999).fill(['name=unknown', ''])), status: 413, error: 41300 },
  { ...typed('POST /plants', 'application/json')('{"name":"a"}'), body: '{"json":"a"}' },
  { ...typed('POST /plants', 'application/json')('{"name":1}'), ...refused },
  { ...typed('POST /plants', 'multipart/mixed; boundary=b')(parts(fern, photo)), ...unread },
]

const archive = (...all: [head: string, text: string][]) => typed('POST /archives', multipart)(parts(...all))
const archives: Call[] = [
  { ...archive(['name=any', 'a'], ['name=file', 'b'.repeat(100_000)]), ...read('any', 'file') },
  { ...archive(other, ['name=file', 'b']), ...refused },
  { ...archive(['name=any', 'b']), ...refused },
]

export const calls: Call[] = [...photos, ...ranges, ...forms, ...archives]
