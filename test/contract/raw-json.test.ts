import t from 'tap'
import { type Bytes, type Case, request, row, runCases } from '../support/raw-http.ts'
import { overTheWire } from '../support/wire-service.ts'

const notJson = { status: 400, error: 40002 }
const invalid = { status: 400, error: 40003 }
const create = (name: string, body: Bytes, expected: Omit<Case, 'name' | 'bytes'>): Case =>
  row(name, request({ body }), expected)
/** Returns a case for each body. A pair is the name of the case and its body; a lone body is also its name. */
const all = (expected: Omit<Case, 'name' | 'bytes'>, bodies: (string | [string, Bytes])[]) =>
  bodies.map((one) =>
    typeof one === 'string' ? create(one.slice(0, 80), one, expected) : create(one[0], one[1], expected),
  )
const around = (before: string, bytes: number[], after: string) =>
  Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])
const inName = (...bytes: number[]) => around('{"id":1,"name":"', bytes, '"}')
const nested = (levels: number) => `{"id":1,"name":"raw","deep":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`

const encodings: Case[] = [
  ...all(notJson, [
    ['a byte that UTF-8 does not have', inName(0xff)],
    ['latin1', inName(0xe9)],
    ['a continuation byte alone', inName(0x80)],
    ['a character broken off', inName(0xe2, 0x82)],
    ['overlong slash', inName(0xc0, 0xaf)],
    ['overlong NUL', inName(0xc0, 0x80)],
    ['overlong in three bytes', inName(0xe0, 0x80, 0xaf)],
    ['a surrogate in UTF-8', inName(0xed, 0xa0, 0x80)],
    ['a pair of surrogates in UTF-8 (CESU-8)', inName(0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80)],
    ['beyond U+10FFFF', inName(0xf4, 0x90, 0x80, 0x80)],
    ['not UTF-8 in a member that is ignored', around('{"id":1,"name":"raw","x":"', [0xff], '"}')],
    ['UTF-16LE', Buffer.from('{"id":1,"name":"raw"}', 'utf16le')],
    ['UTF-16LE with a byte order mark', Buffer.from('\ufeff{"id":1,"name":"raw"}', 'utf16le')],
    ['two byte order marks', '\ufeff\ufeff{"id":1,"name":"raw"}'],
    ['a byte order mark alone', '\ufeff'],
    ['a byte order mark behind', '{"id":1,"name":"raw"}\ufeff'],
    ['a NUL', inName(0x00)],
    ['a NUL behind', '{"id":1,"name":"raw"}\0'],
  ]),
  create('a byte order mark is ignored (RFC 8259 section 8.1)', '\ufeff{"id":1,"name":"raw"}', { status: 200 }),
]

const strings: Case[] = [
  ...all(notJson, [
    '{"id":1,"name":"\\u0000"}',
    '{"id":1,"name":"raw","tag":"a\\u0000"}',
    '{"id":1,"name":"raw","x":"\\u0000"}',
    '{"id":1,"name":"raw","\\u0000":1}',
    '{"id":1,"name":"\\ud800"}',
    '{"id":1,"name":"\\uDFFF"}',
    '{"id":1,"name":"\\ude00\\ud83d"}',
    '{"id":1,"name":"\\ud83d\\ud83d\\ude00"}',
    '{"id":1,"name":"raw","x":["\\ud800"]}',
    '{"id":1,"name":"raw","\\ud800":1}',
    '{"id":1,"name":"raw","name":"raw"}',
    '{"id":1,"id":2,"name":"raw"}',
    '{"id":1,"name":"raw","n\\u0061me":"raw"}',
    '{"id":1,"name":"raw","x":{"a":1,"a":1}}',
    '{"id":1,"name":"raw","x":[{"":1,"":1}]}',
    '{"id":1,"name":"raw","__proto__":1,"__proto__":1}',
    '{"id":1,"name":"raw","__proto__":1,"__prot\\u006f__":1}',
    '{"id":1,"name":"a\tb"}',
    '{"id":1,"name":"a\nb"}',
    '{"id":1,"name":"a\u001fb"}',
    '{"id":1,"name":"\\x41"}',
    '{"id":1,"name":"\\u41"}',
    '{"id":1,"name":"\\u{41}"}',
    '{"id":1,"name":"\\U0041"}',
    '{"id":1,"name":"\\\'"}',
    '{"id":1,"name":"\\"}',
    '{"id":1,"name":"raw}',
    "{'id':1,'name':'raw'}",
    '{"id":1,"name":`raw`}',
    '{id:1,name:"raw"}',
  ]),
  create('every escape', '{"id":21,"name":"\\u0041\\"\\\\\\/\\b\\f\\n\\r\\t\\ud83d\\uDE00"}', {
    status: 200,
    body: { name: 'A"\\/\b\f\n\r\t😀' },
  }),
  create('characters beyond ASCII', '{"id":22,"name":"é𝄞\u007f\u00a0\ufeff\ufffe"}', {
    status: 200,
    body: { name: 'é𝄞\u007f\u00a0\ufeff\ufffe' },
  }),
  create('names of members through escapes', '{"\\u0069d":1,"n\\u0061me":"raw"}', { status: 200 }),
]

const structures: Case[] = [
  ...all(notJson, [
    ' ',
    '{',
    '{}}',
    '{"id":1,"name":"raw"',
    '{"id":1,"name":"raw",}',
    '{"id":1,,"name":"raw"}',
    '{,"id":1,"name":"raw"}',
    '{"id":1 "name":"raw"}',
    '{"id":1,"name" "raw"}',
    '{"id":1,"name":}',
    '{"id":1,"name":"raw","x":[1,]}',
    '{"id":1,"name":"raw"} x',
    '{"id":1,"name":"raw"}{"id":1,"name":"raw"}',
    '{"id":1,"name":"raw"},',
    '{"id":1,"name":"raw"}// a comment',
    '{"id":1,/* a comment */"name":"raw"}',
    '# a comment\n{"id":1,"name":"raw"}',
    '{"id":1,"name":"raw","x":undefined}',
    '{"id":1,"name":"raw","x":True}',
    '{"id":1,"name":"raw","x":nul}',
    'id=1&name=raw',
    '<plant/>',
    ')]}\'\n{"id":1,"name":"raw"}',
    ['a form feed as white space', '{"id":1,\f"name":"raw"}'],
    ['a vertical tab as white space', '{"id":1,\v"name":"raw"}'],
    ['a no-break space as white space', '{"id":1,\u00a0"name":"raw"}'],
    ['a line separator as white space', '{"id":1,\u2028"name":"raw"}'],
    ['200,000 arrays, one in another', '['.repeat(200_000)],
    ['100,000 arrays, one in another, closed', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['40,000 objects, one in another', '{"a":'.repeat(40_000)],
    ['129 levels', nested(129)],
  ]),
  ...all(invalid, [
    'null',
    'true',
    '1',
    '"raw"',
    '[]',
    '[{"id":1,"name":"raw"}]',
    '{}',
    '{"id":1}',
    '{"name":"raw"}',
    '{"ID":1,"Name":"raw"}',
    '{"id":1,"name":null}',
    '{"id":1,"name":1}',
    '{"id":1,"name":true}',
    '{"id":1,"name":["raw"]}',
    '{"id":1,"name":{"toString":"raw"}}',
    '{"id":1,"name":"raw","tag":null}',
    '{"id":1,"name":"raw","tag":1}',
    '{"id":1,"name":"raw","tag":["a"]}',
    '{"__proto__":{"id":1,"name":"raw"}}',
    '{"id":1,"__proto__":{"name":"raw"}}',
    '{"constructor":{"prototype":{"id":1}},"name":"raw"}',
  ]),
  ...all({ status: 200 }, [
    ['white space of every kind', '\r\n\t {\t"id"\n:\r1 , "name" : "raw"\n} \r\n\t'],
    '{"name":"raw","id":1}',
    '{"id":1,"name":"raw","x":1,"color":"green","error":1,"message":"a"}',
    '{"id":1,"name":"raw","__proto__":{"tag":"a"}}',
    '{"id":1,"name":"raw","__proto__":null}',
    '{"id":1,"name":"raw","constructor":{"prototype":{"tag":"a"}}}',
    '{"id":1,"name":"raw","toString":1,"hasOwnProperty":2,"valueOf":null,"toJSON":3,"then":4}',
    '{"id":1,"name":"raw","Tag":"a"," tag":"a"}',
    '{"id":1,"name":"raw","x":1e400,"y":-1e400,"z":123456789012345678901234567890}',
    ['128 levels', nested(128)],
  ]),
  create('an empty name', '{"id":23,"name":""}', { status: 200, body: { name: '' } }),
  create('an empty tag', '{"id":24,"name":"raw","tag":""}', { status: 200, body: { name: 'raw', tag: '' } }),
  create('no tag differs from an empty one', '{"id":24,"name":"raw"}', { status: 409, error: 40900 }),
  create('a name of 200 KB', `{"id":25,"name":"${'é'.repeat(100_000)}"}`, {
    status: 200,
    body: { name: 'é'.repeat(100_000) },
  }),
]

const withId = (id: string) => `{"id":${id},"name":"raw"}`
const ids: Case[] = [
  ...all(
    notJson,
    ['NaN', 'Infinity', '-Infinity', '01', '-01', '00', '+1', '.5', '1.', '1.e3', '1e', '1e+', '-', '- 1', '0x1', '0b1']
      .concat(['1n', '1_000', '1,000', '١', '1 2', '--1', '1e1.5'])
      .map(withId),
  ),
  ...all(
    invalid,
    ['9223372036854775808', '-9223372036854775809', '12.5', '0.5', '1e-1', '-1e-1000000000', '1e-1000000000']
      .concat(['1e1000000000', '-1e1000000000', '1e19', '1e400', '9.3e18', '18446744073709551616'])
      .concat(['1.00000000000000000001', '0.99999999999999999999', '9007199254740993.5', '9223372036854775807.5'])
      .concat(['1e99999999999999999999', '1e-99999999999999999999', '9'.repeat(100_000), `1.${'0'.repeat(100_000)}1`])
      .concat(['"12"', '""', 'true', 'false', 'null', '["a"]', '[1]', '[]', '{}'])
      .map(withId),
  ),
]

/** Pairs of the id as sent and the exact id that the store must receive. */
const exactIds: [string, bigint][] = [
  ['-9223372036854775808', -9223372036854775808n],
  ['9223372036854775807', 9223372036854775807n],
  ['9223372036854775806', 9223372036854775806n],
  ['9007199254740993', 9007199254740993n],
  ['-9007199254740993', -9007199254740993n],
  ['9007199254740992', 9007199254740992n],
  ['9.007199254740993e15', 9007199254740993n],
  ['9.007199254740993E+15', 9007199254740993n],
  ['90071992547409930e-1', 9007199254740993n],
  ['0.9223372036854775807e19', 9223372036854775807n],
  ['9223372036854775807.000', 9223372036854775807n],
  ['100000000000000000000e-2', 1000000000000000000n],
  ['1.0', 1n],
  ['1e3', 1000n],
  ['1E3', 1000n],
  ['1000e-3', 1n],
  ['0', 0n],
  ['-0', 0n],
  ['-0.0', 0n],
  ['0e1000000000', 0n],
  ['0e99999999999999999999', 0n],
  [`1${'0'.repeat(1_000)}e-1000`, 1n],
  ['-1', -1n],
]

const groups = { encodings, strings, structures, ids }
overTheWire(t, (t, start) => {
  for (const [name, cases] of Object.entries(groups))
    t.test(name, async (t) => {
      const { listen, log, create, created: asked } = await start(t)
      t.same(await runCases(t, await listen(), cases), [], 'every response has a Date header (RFC 9110 section 6.6.1)')
      t.equal((await create({ id: 1, name: 'raw' })).status, 200)
      const created = asked()
      for (const plant of created) {
        t.same(
          Object.keys(plant).filter((key) => !['id', 'name', 'tag'].includes(key)),
          [],
          'unknown members are never stored',
        )
        t.type(plant.id, 'bigint')
      }
      const taken = cases.filter(({ status }) => status === 200 || status === 409)
      // The connection of each case also carries a probe, and the write above follows all of them.
      t.equal(created.length, taken.length + cases.length + 1, 'a rejected request never reaches the store')
      t.same(log, [])
    })

  t.test('IDs are exact to the last digit', async (t) => {
    const { listen, log, created: asked } = await start(t)
    const port = await listen()
    for (const [text, id] of exactIds) {
      await runCases(t, port, [create(`${text.slice(0, 80)} is ${id}`, withId(text), { status: 200 })])
      const created = asked()
      t.equal(created[0]?.id, id)
    }
    t.same(log, [])
  })
})
