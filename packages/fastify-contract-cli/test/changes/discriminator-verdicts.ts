import type { Severity } from '../../src/changes/change-severity.ts'
import { named, narrower, object, only, type Position, tagged, text, to, type Verdict } from './expected-severity.ts'

const kindOf = (...kinds: string[]) => object({ kind: { type: 'string', enum: kinds }, name: text }, 'kind')
const union = (discriminator?: object) => ({
  oneOf: [to('Cat'), to('Dog')],
  ...(discriminator !== undefined && { discriminator }),
})
const kinds = { propertyName: 'kind', mapping: { cat: '#$Cat', dog: '#$Dog' } }
const told = { Cat: kindOf('cat'), Dog: kindOf('dog') }
const open = { Cat: object({ kind: text, lives: text }), Dog: object({ kind: text, name: text }) }
const closed = { ...kindOf('cat'), additionalProperties: false }

/** Returns a base schema with two children, which include it by allOf and are selected by a discriminator. */
const family = (pet: object, more: object = {}) => ({
  schema: { oneOf: [to('Cat'), to('Dog')], discriminator: kinds },
  components: {
    Pet: pet,
    Cat: { allOf: [to('Pet'), object({ kind: { const: 'cat' }, lives: text }, 'kind')] },
    Dog: { allOf: [to('Pet'), object({ kind: { const: 'dog' }, ...more }, 'kind')] },
  },
})
export const discriminatorVerdicts: Verdict[] = [
  {
    edit: 'a discriminator is added where each schema requires its name already',
    before: { schema: union(), components: told },
    after: { schema: union(kinds), components: told },
    ...only('compatible'),
  },
  {
    edit: 'a discriminator is added to schemas that are closed and require their names',
    before: { schema: union(), components: { ...told, Cat: closed } },
    after: { schema: union(kinds), components: { ...told, Cat: closed } },
    ...only('compatible'),
  },
  {
    edit: 'a discriminator is added where the property was optional',
    before: { schema: union(), components: open },
    after: { schema: union(kinds), components: open },
    ...narrower,
  },
  {
    edit: 'a discriminator is added where other names were allowed',
    before: { schema: union(), components: { ...told, Dog: kindOf('dog', 'wolf') } },
    after: { schema: union(kinds), components: { ...told, Dog: kindOf('dog', 'wolf') } },
    ...narrower,
  },
  {
    edit: 'a discriminator is added to a base whose children allow any name',
    before: { schema: to('Cat'), components: { Pet: object({ kind: text }), Cat: { allOf: [to('Pet'), tagged] } } },
    after: {
      schema: to('Cat'),
      components: {
        Pet: { ...object({ kind: text }), discriminator: { propertyName: 'kind', mapping: { cat: '#$Cat' } } },
        Cat: { allOf: [to('Pet'), tagged] },
      },
    },
    ...narrower,
  },
  {
    edit: 'a discriminator is removed',
    before: { schema: union(kinds), components: told },
    after: { schema: union(), components: told },
    ...only('breaking'),
  },
  {
    edit: 'a discriminator names a schema otherwise',
    before: { schema: union(kinds), components: open },
    after: { schema: union({ ...kinds, mapping: { ...kinds.mapping, cat: '#$Dog', dog: '#$Cat' } }), components: open },
    ...only('breaking'),
  },
  {
    edit: 'a discriminator is another property',
    before: { schema: union(kinds), components: open },
    after: { schema: union({ ...kinds, propertyName: 'name' }), components: open },
    ...only('breaking'),
  },
  ...[undefined, kinds].flatMap((discriminator): Verdict[] => {
    const edits: [string, object, Record<Position, Severity | undefined>][] = [
      [
        'gets an optional property',
        object({ kind: { const: 'cat' }, lives: text, age: text }, 'kind'),
        only('compatible'),
      ],
      ['requires a property', object({ kind: { const: 'cat' }, lives: text }, 'kind', 'lives'), narrower],
      [
        'gets another description',
        { ...object({ kind: { const: 'cat' }, lives: text }, 'kind'), description: 'A' },
        only('text'),
      ],
      ['loses a property', object({ kind: { const: 'cat' } }, 'kind'), only('breaking')],
    ]
    const cat = object({ kind: { const: 'cat' }, lives: text }, 'kind')
    const dog = object({ kind: { const: 'dog' }, barks: text }, 'kind')
    return edits.map(([what, edited, weights]) => ({
      edit: `a schema ${discriminator === undefined ? 'in a union' : 'behind a mapping'} ${what}`,
      before: { schema: union(discriminator), components: { Cat: cat, Dog: dog } },
      after: { schema: union(discriminator), components: { Cat: edited, Dog: dog } },
      ...weights,
    }))
  }),
  {
    edit: 'the base of a family gets a required property',
    before: family(object({ name: text })),
    after: family(object({ name: text }, 'name')),
    ...narrower,
  },
  {
    edit: 'a child gets an optional property',
    before: family(named),
    after: family(named, { age: text }),
    ...only('compatible'),
  },
  {
    edit: 'a schema behind a mapping is hardly like it was',
    before: { schema: union(kinds), components: open },
    after: {
      schema: union(kinds),
      components: {
        ...open,
        Cat: object(
          Object.fromEntries(['kind', 'lives', 'age', 'owner', 'home', 'since', 'chip'].map((name) => [name, text])),
        ),
      },
    },
    ...only('compatible'),
  },
]
