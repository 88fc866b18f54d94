import type { Call } from '../served-documents.ts'
import type { Handlers } from './handler-types.d.ts'

export const handlers: Handlers = {
  async echo({ body }) {
    const large: bigint | undefined = body.large
    const level: bigint | undefined = body.level
    const exact: bigint | undefined = body.exact
    const either: bigint | string | null | undefined = body.either
    const small: number | undefined = body.small
    const name: string | undefined = body.name
    const unsigned: bigint | undefined = body.unsigned
    const mixed: bigint | string | undefined = body.mixed
    const ids: (bigint | undefined)[] = (body.branches ?? []).map(({ id }) => id)
    if ([unsigned ?? 0n, ...ids, typeof mixed === 'string' ? 0n : (mixed ?? 0n)].some((one) => typeof one === 'number'))
      throw new Error('a number instead of a bigint')
    const types = [large ?? 0n, level ?? 0n, exact ?? 0n, small ?? 0, either ?? '', name ?? ''].map((one) => typeof one)
    const seen = types.join().replace('bigint,bigint,bigint,number,string,string', '')
    return { status: 200, body: seen === '' ? body : { ...body, secret: seen } }
  },
  async getIds({ path, query }) {
    return { status: 200, headers: { 'X-Id': path.id }, body: query }
  },
}

const post = (send: unknown) => ({ request: 'POST /values', send })
const same = (send: string): Call => ({ ...post(send), body: send })
const refused = (send: unknown): Call => ({ ...post(send), status: 400, error: 40003 })

export const calls: Call[] = [
  same('{"when":"2024-02-29T12:00:00Z","day":"2024-02-29","id":"7f6f0f7e-1d2b-4f0c-9d7e-0123456789ab"}'),
  same('{"mail":"a@example.com","link":"https://example.com/a?b#c","bytes":"aGVsbG8="}'),
  same('{"small":2147483647,"large":0,"single":1.5,"double":2.5,"color":"#00ff00","secret":"abc"}'),
  same('{"unit":1}'),
  same('{"unit":null,"version":2,"enum":"e","properties":{"type":"t","format":1}}'),
  same('{}'),
  {
    ...post('{"large":9007199254740993,"level":2,"exact":7,"either":9007199254740993}'),
    body: '{"large":9007199254740993,"secret":"bigint,bigint,bigint,number,bigint,string","level":2,"exact":7,"either":9007199254740993}',
  },
  same('{"either":"9007199254740993"}'),
  same('{"either":null}'),
  same('{"not":9007199254740993}'),
  same('{"when":"2024-02-29t12:00:00z"}'),
  same('{"unsigned":18446744073709551615,"plain":-9007199254740991}'),
  same('{"unsigned":0}'),
  same('{"bounded":1152921504606846975,"within":18446744073709551614}'),
  same('{"bounded":-1152921504606846977,"within":9007199254740994}'),
  { ...post('{"bounded":-5,"around":9223372036854776000}') },
  { ...post('{"bounded":-5,"around":9223372036854775808}'), status: 400 },
  same('{"chosen":9007199254740993,"fixed":18446744073709551615,"steps":-2305843009213693950}'),
  same('{"chosen":-9223372036854775808,"steps":0}'),
  same('{"chosen":5}'),
  same('{"chosen":null}'),
  {
    request: 'GET /ids/9007199254740993',
    headers: { 'x-id': '9007199254740993' },
    body: '{"from":9007199254740993,"all":[18446744073709551615,1]}',
  },
  { request: 'GET /ids/9007199254740993?from=7&all=2', body: '{"from":7,"all":[2]}' },
  { request: 'GET /ids/9007199254740992', status: 400, error: 40003 },
  same('{"mixed":5,"both":9007199254740993}'),
  same('{"mixed":9007199254740993}'),
  same('{"mixed":"9007199254740993","tested":2147483648}'),
  same('{"tested":9007199254740993}'),
  same('{"branches":[{"low":"a","id":2147483647},{"high":"b","id":9007199254740993}]}'),
  same('{"numbers":[18446744073709551615,18446744073709551614]}'),
  same('{"unique":[9007199254740992,9007199254740993]}'),
  refused({ when: '2023-02-29T12:00:00Z' }),
  refused({ when: '2024-02-29T12:00:00+01' }),
  refused({ when: '2024-02-29T12:00:00+0100' }),
  refused({ when: '2024-02-29 12:00:00Z' }),
  refused({ when: '2024-02-29\t12:00:00Z' }),
  refused({ day: '2023-02-29' }),
  refused({ id: 'x' }),
  refused({ mail: 'a' }),
  refused({ link: 'a b' }),
  refused({ bytes: '?' }),
  refused({ small: 2147483648 }),
  refused({ small: 1.5 }),
  refused('{"large":9223372036854775808}'),
  refused({ large: '1' }),
  refused('{"unsigned":18446744073709551616}'),
  refused('{"unsigned":-1}'),
  refused('{"numbers":[18446744073709551615,1.8446744073709551615e19]}'),
  ...[
    ['{"bounded":1152921504606846976}', 'body/bounded must be <= 1152921504606846975'],
    ['{"bounded":-1152921504606846978}', 'body/bounded must be >= -1152921504606846977'],
    ['{"within":18446744073709551615}', 'body/within must be < 18446744073709551615'],
    ['{"within":9007199254740993}', 'body/within must be > 9007199254740993'],
    ['{"chosen":9007199254740992}', 'body/chosen must be equal to 9007199254740993 or -9223372036854775808 or 5'],
    ['{"fixed":18446744073709551614}', 'body/fixed must be equal to 18446744073709551615'],
    ['{"steps":1152921504606846976}', 'body/steps must be multiple of 1152921504606846975'],
    ['{"unsigned":1.5}', 'body/unsigned must be a uint64 integer'],
  ].map(([send = '', message]): Call => ({ ...refused(send), body: { message } })),
  refused({ mixed: 7 }),
  refused({ bounded: 1.5 }),
  refused({ both: 1.5 }),
  refused('{"both":9223372036854775808}'),
  refused({ tested: 5 }),
  refused({ branches: [{ low: 'a', id: 2147483648 }] }),
  refused('{"plain":9007199254740993}'),
  refused('{"unique":[9007199254740993,9.007199254740993e15]}'),
  refused({ single: '1.5' }),
  refused({ double: 0.3 }),
  refused({ color: 'green' }),
  refused({ secret: 'ab' }),
  refused({ unit: 2 }),
  refused({ level: 3 }),
  refused({ version: 3 }),
  refused({ exact: 8 }),
  refused({ either: 1.5 }),
  refused({ name: 'longer than it may be' }),
]
