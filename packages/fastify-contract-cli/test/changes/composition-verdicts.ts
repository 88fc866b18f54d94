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
} from './expected-severity.ts'

export const compositionVerdicts: Verdict[] = [
  { edit: 'properties are hoisted into a base', before: { schema: namedAndTagged }, after: onBase(named), ...same },
  {
    edit: 'properties with properties of their own are hoisted into a base',
    before: { schema: object({ owner: namedAndTagged, tag: text }, 'owner') },
    after: onBase(object({ owner: namedAndTagged }, 'owner')),
    ...same,
  },
  {
    edit: 'a base is written where it was taken in',
    before: onBase(named),
    after: { schema: namedAndTagged },
    ...same,
  },
  {
    edit: 'a schema gets a name',
    before: { schema: namedAndTagged },
    after: { schema: to('Named'), components: { Named: namedAndTagged } },
    ...same,
  },
  {
    edit: 'a schema is wrapped',
    before: { schema: to('Named'), components: { Named: named } },
    after: { schema: { allOf: [to('Named')] }, components: { Named: named } },
    ...same,
  },
  {
    edit: 'a schema is wrapped twice',
    before: { schema: named },
    after: { schema: { allOf: [{ allOf: [named] }] } },
    ...same,
  },
  {
    edit: 'a schema is wrapped to have a description',
    before: { schema: object({ owner: to('Named') }), components: { Named: named } },
    after: {
      schema: object({ owner: { description: 'Whose it is.', allOf: [to('Named')] } }),
      components: { Named: named },
    },
    ...only('text'),
  },
  {
    edit: 'a schema is wrapped to be narrower',
    before: { schema: object({ size: to('Size') }), components: { Size: { type: 'integer', minimum: 0 } } },
    after: {
      schema: object({ size: { allOf: [to('Size')], maximum: 9 } }),
      components: { Size: { type: 'integer', minimum: 0 } },
    },
    ...narrower,
  },
  {
    edit: 'a limit that says nothing new stands beside a $ref',
    before: { schema: object({ size: to('Size') }), components: { Size: { type: 'integer', minimum: 0 } } },
    after: {
      schema: object({ size: { ...to('Size'), minimum: -1, type: 'number' } }),
      components: { Size: { type: 'integer', minimum: 0 } },
    },
    ...same,
  },
  {
    edit: 'a limit stands beside a $ref',
    before: { schema: object({ size: to('Size') }), components: { Size: { type: 'integer', minimum: 0 } } },
    after: {
      schema: object({ size: { ...to('Size'), minimum: 1 } }),
      components: { Size: { type: 'integer', minimum: 0 } },
    },
    ...narrower,
  },
  {
    edit: 'a schema of the same parts in another order',
    before: { schema: { allOf: [named, tagged, { minProperties: 1 }] } },
    after: { schema: { minProperties: 1, allOf: [{ allOf: [tagged] }, named] } },
    ...same,
  },
]
