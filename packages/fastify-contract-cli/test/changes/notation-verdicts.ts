import { narrower, object, only, same, text, to, type Verdict, wider } from './expected-severity.ts'

const none = { type: 'null' }
const list = { type: 'array', items: text }
const spaced = { ...text, minLength: 1 }
const named = object({ name: text }, 'name')
const components = { Named: named, Other: object({ other: text }, 'other') }

/** Edits that write the same schema in another way, in both directions. */
const notations: [what: string, one: object, other: object][] = [
  ['additionalProperties without a limit', named, { ...named, additionalProperties: true }],
  ['additionalProperties with an empty schema', named, { ...named, additionalProperties: {} }],
  ['items without a limit', { type: 'array' }, { type: 'array', items: {} }],
  ['lengths of 0', list, { ...list, minItems: 0, items: { ...text, minLength: 0 } }],
  ['a number of properties of 0', named, { ...named, minProperties: 0 }],
  [
    'flags that are false',
    object({ list }),
    object({ list: { ...list, uniqueItems: false, readOnly: false, writeOnly: false, deprecated: false } }),
  ],
  ['one type in a list', text, { type: ['string'] }],
  ['a const and an enum of one value', { ...text, const: 'a' }, { ...text, enum: ['a'] }],
  ['another order of an enum', { ...text, enum: ['b', 'a', 'B'] }, { ...text, enum: ['a', 'B', 'b'] }],
  ['a union with null by anyOf', { ...spaced, type: ['string', 'null'] }, { anyOf: [spaced, none] }],
  ['a union with null by oneOf', { ...spaced, type: ['string', 'null'] }, { oneOf: [none, spaced] }],
  [
    'a nested union with null',
    object({ list: { ...list, type: ['array', 'null'], items: { type: ['string', 'null'] } } }),
    object({ list: { anyOf: [{ ...list, items: { oneOf: [text, none] } }, none] } }),
  ],
]

const noted = notations.flatMap(([what, one, other]): Verdict[] => [
  { edit: `written: ${what}`, before: { schema: one }, after: { schema: other }, ...same },
  { edit: `left out: ${what}`, before: { schema: other }, after: { schema: one }, ...same },
])

export const notationVerdicts: Verdict[] = [
  ...noted,
  {
    edit: 'a union with null gets a limit',
    before: { schema: { ...text, type: ['string', 'null'] } },
    after: { schema: { anyOf: [spaced, none] } },
    ...narrower,
  },
  {
    edit: 'an inline schema may be null',
    before: { schema: spaced },
    after: { schema: { oneOf: [spaced, none] } },
    ...wider,
  },
  {
    edit: 'an enum may not be null in a union',
    before: { schema: { type: ['string', 'null'], enum: ['a', null] } },
    after: { schema: { ...text, enum: ['a'] } },
    ...narrower,
  },
  {
    edit: 'a const gets another value',
    before: { schema: { const: 'a' } },
    after: { schema: { enum: ['b'] } },
    ...only('breaking'),
  },
  {
    edit: 'a named schema may be null',
    before: { schema: object({ named: to('Named') }), components },
    after: { schema: object({ named: { anyOf: [to('Named'), none] } }), components },
    ...wider,
  },
  {
    edit: 'a named schema may not be null any more',
    before: { schema: object({ named: { oneOf: [to('Named'), none] } }), components },
    after: { schema: object({ named: to('Named') }), components },
    ...narrower,
  },
  {
    edit: 'a named schema becomes one of several',
    before: { schema: { type: 'array', items: to('Named') }, components },
    after: { schema: { type: 'array', items: { oneOf: [to('Other'), to('Named')] } }, components },
    ...wider,
  },
  {
    edit: 'an inline schema becomes one of several',
    before: { schema: { ...named, description: 'One.' }, components },
    after: { schema: { oneOf: [named, to('Other')] }, components },
    ...wider,
  },
  {
    edit: 'an inline schema is left of several',
    before: { schema: { anyOf: [to('Other'), named] }, components },
    after: { schema: named, components },
    ...narrower,
  },
  {
    edit: 'another schema becomes one of several',
    before: { schema: object({ other: spaced }), components },
    after: { schema: { oneOf: [to('Named'), to('Other')] }, components },
    ...only('breaking'),
  },
  {
    edit: 'a union becomes exclusive',
    before: { schema: { anyOf: [to('Named'), to('Other')] }, components },
    after: { schema: { oneOf: [to('Named'), to('Other')] }, components },
    ...narrower,
  },
  {
    edit: 'a union is no longer exclusive',
    before: { schema: { oneOf: [to('Named'), to('Other')] }, components },
    after: { schema: { anyOf: [to('Other'), to('Named')] }, components },
    ...wider,
  },
  {
    edit: 'the alternatives of a union are described',
    before: { schema: { oneOf: [{ ...named }, object({ other: text }, 'other')] } },
    after: {
      schema: {
        oneOf: [
          { ...object({ other: text }, 'other'), description: `What else there is${', and more'.repeat(20)}.` },
          { ...named, title: `What has a name${', and more'.repeat(20)}.` },
        ],
      },
    },
    ...only('text'),
  },
  {
    edit: 'an alternative of a union is replaced',
    before: {
      schema: {
        oneOf: [
          { const: 'a', title: 'A' },
          { const: 'b', title: 'B' },
        ],
      },
    },
    after: {
      schema: {
        oneOf: [
          { const: 'b', title: 'B' },
          { const: 'c', title: 'C' },
        ],
      },
    },
    ...only('breaking'),
  },
]
