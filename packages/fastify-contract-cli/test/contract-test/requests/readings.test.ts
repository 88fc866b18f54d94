import t from 'tap'
import { isReadExactly, isRejected, type Textual } from '../../../src/contract-test/requests/readings.ts'
import type { Json } from '../../../src/contract-test/values/json-notations.ts'
import { ReferenceValidator } from '../../../src/contract-test/values/reference-validator.ts'

const scalar = (...types: string[]): Textual => ({ kind: 'scalar', style: 'form', explode: true, types })
const list = (...types: string[]): Textual => ({ ...scalar(...types), kind: 'array' })
const object: Textual = { ...scalar('string'), kind: 'object', explode: false, properties: { n: ['integer'] } }
const nested: Textual = { ...scalar(), kind: 'nested', style: 'deepObject' }

const judge = new ReferenceValidator({ openapi: '3.1.0', info: { title: '', version: '' } })
const accepts = (schema: object) => (value: Json) => judge.accepts(schema as never, value)

t.test('no violation is a text that some server reads as a valid value', async (t) => {
  const doubtful: [Textual, object, Json][] = [
    [scalar('string'), { type: 'string' }, 12n],
    [scalar('string'), { type: 'string' }, null],
    [scalar('integer'), { type: 'integer' }, '12'],
    [scalar('integer'), { type: 'integer' }, ' 12 '],
    [scalar('integer'), { type: 'integer' }, '+1_000'],
    [scalar('number'), { type: 'number' }, 'NaN'],
    [scalar('boolean'), { type: 'boolean' }, 1n],
    [scalar('boolean'), { type: 'boolean' }, 'YES'],
    [scalar('integer'), { type: ['integer', 'null'] }, 'none'],
    [scalar('integer'), { type: 'integer' }, [12n]],
    [scalar('integer'), { type: 'integer' }, [1n, 2n]],
    [scalar('integer'), { type: 'integer' }, []],
    [scalar('integer'), { type: 'integer' }, { n: 1n }],
    [list('integer'), { type: 'array', items: { type: 'integer' } }, 12n],
    [list('integer'), { type: 'array', items: { type: 'integer' } }, '1,2'],
    [list('integer'), { type: 'array', items: { type: 'integer' } }, ''],
    [list('string'), { type: 'array', items: { maxLength: 3 } }, ['a,bcd']],
    [object, { type: 'object', properties: { n: { type: 'integer' } } }, 'n,x'],
    [object, { type: 'object', properties: { n: { type: 'integer' } } }, { n: '5' }],
    [{ ...object, explode: true }, { type: 'object', required: ['n'] }, { a: '' }],
    [nested, { type: 'object', properties: { a: { type: 'array' } } }, { a: 5n }],
  ]
  for (const [textual, schema, value] of doubtful)
    t.notOk(isRejected(textual, value, accepts(schema)), `${JSON.stringify(schema)} ${String(value)}`)
})

t.test('texts without a valid reading are violations', async (t) => {
  const certain: [Textual, object, Json][] = [
    [scalar('integer'), { type: 'integer' }, 'x'],
    [scalar('integer'), { type: 'integer', maximum: 3 }, 4n],
    [scalar('string'), { type: 'string', enum: ['a'] }, 'b'],
    [list('integer'), { type: 'array', items: { type: 'integer' } }, ['x', 'y']],
    [object, { type: 'object', properties: { n: { type: 'integer' } } }, { n: 'x' }],
    [nested, { type: 'object', properties: { n: { type: 'integer' } } }, { n: 'x' }],
    [{ ...scalar(), kind: 'json' }, { type: 'string' }, 12n],
  ]
  for (const [textual, schema, value] of certain)
    t.ok(isRejected(textual, value, accepts(schema)), `${JSON.stringify(schema)} ${String(value)}`)
})

t.test('a value with too many readings is no violation', async (t) => {
  const value = Array.from({ length: 20 }, () => '1')
  t.notOk(isRejected(list('string'), value, accepts({ maxItems: 2 })))
})

t.test('valid values have one reading of the types of their schema, and no delimiter', async (t) => {
  const any = () => true
  t.ok(isReadExactly(scalar('integer'), 12n, any))
  t.ok(isReadExactly(list('string'), ['a', '12'], any))
  t.ok(isReadExactly(object, { n: 12n, a: 'b' }, any))
  t.ok(isReadExactly(nested, { a: ['b', { c: 1n }] }, any))
  for (const [textual, value] of [
    [scalar('integer', 'null'), null],
    [list('string'), []],
    [list('string'), ['a,b']],
    [list('string'), ['']],
    [list('string', 'integer'), ['12']],
    [object, {}],
    [object, { 'a=b': 'c' }],
    [nested, { a: '12' }],
    [nested, { a: [] }],
    [nested, { a: null }],
  ] as [Textual, Json][])
    t.notOk(
      isReadExactly(textual, value, any),
      JSON.stringify(value, (_, one) => (one === 12n ? 12 : one)),
    )
  const isShort = (value: Json) => typeof value === 'string' && value.length < 3
  t.notOk(isReadExactly(scalar('string', 'integer'), '12', isShort), 'servers may read an integer')
})
