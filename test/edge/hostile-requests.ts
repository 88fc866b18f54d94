import { token } from '../scenarios/built-service.ts'

/** Size of each body in bytes: the default limit. */
const size = 262_144

const head = (framing: string, credentials: string) =>
  `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${credentials}\r\n` +
  `Content-Type: application/json\r\n${framing}\r\n\r\n`

/** Returns a valid plant with a list of as many items as fit into a body. */
function plant(item: (n: number) => string): string {
  const items: string[] = []
  let length = 0
  for (let n = 0; length + item(n).length < size - 100; n++) {
    items.push(item(n))
    length += item(n).length + 1
  }
  return `{"id":1,"name":"hostile","more":[${items.join()}]}`
}

/** Returns the parts of a request with Content-Length: head and body. */
const whole = (body: string) => [head(`Content-Length: ${body.length}`, token), body]

const chunked = head('Transfer-Encoding: chunked', token)

/** Returns a body in chunks of one byte. */
const inBytes = (body: string) => `${body.replace(/./g, '1\r\n$&\r\n')}0\r\n\r\n`

/** Returns a new forged JSON Web Token with an unknown key id, which makes the service fetch the issuer's keys. */
function forgedToken(issuer: string): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { iss: issuer, aud: 'plants', sub: 'forged', exp: 2 ** 32 }
  return `${encode({ alg: 'RS256', kid: 'none' })}.${encode(claims)}.${Math.random().toString(36).slice(2)}`
}

/** Returns a factory of request parts for each kind of attack; the issuer at this URL never responds. */
export function hostileRequests(issuer: string): Record<string, () => Buffer[]> {
  const large = plant((n) => String(n))
  const bytes = Buffer.from(inBytes(large))
  const texts: Record<string, string[]> = {
    'index keys': whole(plant(() => '{"1023":0}')),
    'small index keys': whole(plant(() => '{"25":0}')),
    'nested arrays': whole(plant(() => '['.repeat(120) + ']'.repeat(120))),
    numbers: whole(plant(() => '1.0')),
    'inexact numbers': whole(plant((n) => `[${2n ** 60n + BigInt(n)}]`)),
    'long names': whole(plant((n) => `{"${String(n).padStart(2_000, 'k')}":0}`)),
    'withheld end': whole(large).map((part) => part.replace(/\}$/, '')),
    'chunks of one byte': [chunked, bytes.toString()],
    'chunks of one byte, withheld end': [chunked, bytes.toString().slice(0, -5)],
  }
  const made = Object.entries(texts).map(([name, parts]) => {
    const buffers = parts.map((part) => Buffer.from(part))
    return [name, () => buffers] as const
  })
  const forged = () => [Buffer.from(head('Transfer-Encoding: chunked', forgedToken(issuer))), bytes]
  return { ...Object.fromEntries(made), 'forged tokens, chunks of one byte': forged }
}
