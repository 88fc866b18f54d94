import {
  named,
  namedAndTagged,
  narrower,
  object,
  onBase,
  only,
  same,
  tagged,
  text,
  to,
  type Verdict,
  wider,
} from './verdict.ts'

const tree = (leaf: object) => ({
  schema: to('Tree'),
  components: { Tree: { allOf: [object({ below: { type: 'array', items: to('Tree') } }), object({ leaf })] } },
})
const endless = (more: object) => ({
  schema: to('One'),
  components: { One: { allOf: [to('Two'), more] }, Two: { allOf: [to('One'), tagged] } },
})

export const constraintVerdicts: Verdict[] = [
  { edit: 'a base requires a property', before: onBase(object({ name: text })), after: onBase(named), ...narrower },
  { edit: 'a base requires none', before: onBase(named), after: onBase(object({ name: text })), ...wider },
  {
    edit: 'a base loses a property',
    before: onBase(object({ name: text, age: text })),
    after: onBase(object({ name: text })),
    ...only('breaking'),
  },
  {
    edit: 'a base gets a required property',
    before: onBase(object({ name: text })),
    after: onBase(object({ name: text, age: text }, 'age')),
    ...narrower,
  },
  {
    edit: 'a property of a base has another type',
    before: onBase(named),
    after: onBase(object({ name: { type: 'integer' } }, 'name')),
    ...only('breaking'),
  },
  {
    edit: 'a base has another description',
    before: onBase(named),
    after: onBase({ ...named, description: 'Has a name.' }),
    ...only('text'),
  },
  {
    edit: 'a property deep in a base is narrower',
    before: onBase(object({ owner: { anyOf: [object({ name: text })] } })),
    after: onBase(object({ owner: { anyOf: [object({ name: { ...text, minLength: 1 } })] } })),
    ...narrower,
  },
  {
    edit: 'a schema takes in one more base',
    before: { schema: { allOf: [named] } },
    after: { schema: { allOf: [named, object({ age: text }, 'age')] } },
    ...narrower,
  },
  {
    edit: 'a schema takes in one base less',
    before: { schema: { allOf: [named, object({ age: text }, 'age')] } },
    after: { schema: { allOf: [named] } },
    ...only('breaking'),
  },
  {
    edit: 'an allOf that no value satisfies is as it was',
    before: { schema: { allOf: [{ type: 'string' }, { type: 'integer' }] } },
    after: { schema: { allOf: [{ type: 'string' }, { type: 'integer' }] } },
    ...same,
  },
  {
    edit: 'an allOf gets a part that cannot be merged',
    before: { schema: { allOf: [named, tagged] } },
    after: { schema: { allOf: [named, { ...tagged, additionalProperties: false }] } },
    ...only('breaking'),
  },
  {
    edit: 'a part that cannot be merged loses a limit',
    before: { schema: { allOf: [named, { ...tagged, additionalProperties: false, minProperties: 1 }] } },
    after: { schema: { allOf: [named, { ...tagged, additionalProperties: false }] } },
    ...wider,
  },
  { edit: 'a recursive schema is wider', before: tree(text), after: tree({ type: ['string', 'null'] }), ...wider },
  { edit: 'an endless allOf stays', before: endless(named), after: endless(named), ...same },
  {
    edit: 'a schema beside an endless allOf requires a property',
    before: endless(object({ name: text })),
    after: endless(named),
    ...narrower,
  },
  {
    edit: 'a required property is added',
    before: { schema: object({ name: text }) },
    after: { schema: object({ name: text, age: text }, 'age') },
    ...narrower,
  },
  {
    edit: 'a required property is added to what had none',
    before: { schema: { type: 'object' } },
    after: { schema: object({ age: text }, 'age') },
    ...narrower,
  },
  {
    edit: 'a property is removed',
    before: { schema: namedAndTagged },
    after: { schema: named },
    ...only('breaking'),
  },
  {
    edit: 'a property is readOnly',
    before: { schema: tagged },
    after: { schema: object({ tag: { ...text, readOnly: true } }) },
    sent: 'breaking',
    returned: 'compatible',
    both: 'breaking',
  },
  {
    edit: 'a property is writeOnly',
    before: { schema: tagged },
    after: { schema: object({ tag: { ...text, writeOnly: true } }) },
    sent: 'compatible',
    returned: 'breaking',
    both: 'breaking',
  },
  {
    edit: 'a property that is wrapped is readOnly',
    before: { schema: object({ tag: to('Tag') }), components: { Tag: text } },
    after: { schema: object({ tag: { allOf: [to('Tag')], readOnly: true } }), components: { Tag: text } },
    sent: 'breaking',
    returned: 'compatible',
    both: 'breaking',
  },
  {
    edit: 'a property has another default',
    before: { schema: object({ tag: { ...text, default: 'a' } }) },
    after: { schema: object({ tag: { ...text, default: 'b' } }) },
    ...only('breaking'),
  },
]
