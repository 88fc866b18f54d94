import t from 'tap'
import type { Document } from '../../src/document/openapi-document.ts'
import { handlerChanges } from '../../src/emit/handler-changes.ts'

type Operation = { parameters?: object[]; requestBody?: object; responses?: object }

const json = (schema: unknown) => ({ content: { 'application/json': { schema } } })
const petOf = (properties: object, ...required: string[]) => ({ type: 'object', properties, required })
const text = { type: 'string' }
const int64 = { type: 'integer', format: 'int64' }

const documentOf = (operations: Record<string, Operation>, schemas: object = {}): Document =>
  ({
    openapi: '3.1.0',
    info: { title: 'Pets', version: '1.0.0' },
    paths: Object.fromEntries(
      Object.entries(operations).map(([operationId, operation]) => [
        `/${operationId}`,
        { post: { operationId, responses: { 204: {} }, ...operation } },
      ]),
    ),
    components: { schemas },
  }) as Document

/** Changes of one operation, with the lines about it. */
const cases: Record<string, [before: Operation, after: Operation, lines: string[]]> = {
  'a new required header': [
    {},
    { parameters: [{ in: 'header', name: 'x-tenant', required: true, schema: text }] },
    ["edit also receives header['x-tenant']"],
  ],
  'a new optional parameter, and one with a default': [
    {},
    {
      parameters: [
        { in: 'query', name: 'limit', schema: { type: 'integer' } },
        { in: 'query', name: 'page', schema: { type: 'integer', default: 1 } },
      ],
    },
    ['edit also receives query.limit, if it is sent', 'edit also receives query.page'],
  ],
  'a removed parameter': [
    { parameters: [{ in: 'query', name: 'limit', schema: text }] },
    {},
    ['edit no longer receives query.limit'],
  ],
  'a parameter of another type, and one that becomes required': [
    {
      parameters: [
        { in: 'query', name: 'limit', schema: { type: 'integer' } },
        { in: 'query', name: 'page', schema: text },
      ],
    },
    {
      parameters: [
        { in: 'query', name: 'limit', schema: { type: ['string', 'null'] } },
        { in: 'query', name: 'page', required: true, schema: { ...text, maxLength: 7 } },
      ],
    },
    [
      'edit receives query.limit as null or string, before as integer',
      'edit always receives query.page',
      'edit receives query.page with another maxLength',
    ],
  ],
  'a body that becomes required, with other members': [
    { requestBody: json(petOf({ id: int64, name: text, owner: petOf({ age: text }) }, 'id', 'name')) },
    {
      requestBody: {
        required: true,
        ...json(
          petOf({ id: { type: 'integer' }, owner: petOf({ age: text, city: petOf({ zip: text }) }, 'city') }, 'id'),
        ),
      },
    },
    [
      'edit always receives body',
      'edit receives body.id as integer, before as integer (int64)',
      'edit no longer receives body.name',
      'edit also receives body.owner.city',
    ],
  ],
  'a new body of two media types': [
    {},
    { requestBody: { required: true, content: { 'application/json': { schema: text }, 'text/csv': {} } } },
    ['edit also receives body', 'edit also receives body (text/csv)'],
  ],
  'a member that becomes read-only': [
    { requestBody: { required: true, ...json(petOf({ id: text })) } },
    { requestBody: { required: true, ...json(petOf({ id: { ...text, readOnly: true } })) } },
    ['edit no longer receives body.id'],
  ],
  'other responses': [
    { responses: { 204: {}, 409: {} } },
    { responses: { 204: {}, 404: json(petOf({ code: text })) } },
    ['edit can no longer respond with 409', 'edit can also respond with 404'],
  ],
  'members of a response': [
    {
      responses: { 200: json({ type: 'array', items: petOf({ id: text, name: text, tag: text, age: text }, 'name') }) },
    },
    {
      responses: {
        200: json({
          type: 'array',
          items: petOf({ id: int64, age: { ...text, pattern: '^a' }, weight: text, size: text }, 'name', 'age', 'size'),
        }),
      },
    },
    [
      'edit returns body[].id for 200 as integer (int64), before as string',
      'edit must return body[].name for 200, which the document no longer describes',
      'edit no longer returns body[].tag for 200: the document does not describe it',
      'edit must always return body[].age for 200',
      'edit returns body[].age for 200 with another pattern',
      'edit can also return body[].weight for 200',
      'edit must also return body[].size for 200',
    ],
  ],
  'headers of a response': [
    { responses: { 200: { headers: { 'X-A': { schema: text }, 'X-B': { schema: text, required: true } } } } },
    { responses: { 200: { headers: { 'x-b': { schema: text }, ETag: { schema: text, required: true } } } } },
    [
      "edit no longer returns headers['X-A'] for 200: the document does not describe it",
      "edit can leave out headers['X-B'] for 200",
      'edit must also return headers.ETag for 200',
    ],
  ],
  'text for people, another order, and another notation': [
    {
      responses: { 200: json({ allOf: [petOf({ id: text }, 'id'), { description: 'a', properties: { tag: text } }] }) },
    },
    { responses: { 200: json(petOf({ tag: { ...text, description: 'b', examples: ['c'] }, id: text }, 'id')) } },
    [],
  ],
  'an alternative with another member': [
    { responses: { 200: json({ oneOf: [petOf({ a: text }, 'a'), petOf({ b: text }, 'b')] }) } },
    { responses: { 200: json({ oneOf: [petOf({ a: text }, 'a'), petOf({ c: text }, 'c')] }) } },
    ['edit no longer returns body.b for 200: the document does not describe it', 'edit can also return body.c for 200'],
  ],
}

for (const [name, [before, after, lines]] of Object.entries(cases))
  t.test(`${name}: the lines name the operation and what changed for its handler`, async (t) => {
    t.same(handlerChanges(documentOf({ edit: before }), documentOf({ edit: after })), lines)
    t.same(handlerChanges(documentOf({ edit: after }), documentOf({ edit: after })), [])
  })

t.test('operations that are new, removed or renamed are not told', async (t) => {
  t.same(handlerChanges(documentOf({ one: {} }), documentOf({ other: { requestBody: json(text) } })), [])
})

t.test('a change of a shared schema is one line, and long lists are cut', async (t) => {
  const response = { responses: { 200: json({ $ref: '#/components/schemas/Pet' }) } }
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`edit${index}`, response]))
  const pet = { ...petOf({ name: text, parent: { $ref: '#/components/schemas/Pet' } }) }
  t.same(
    handlerChanges(documentOf(many, { Pet: pet }), documentOf(many, { Pet: petOf({ ...pet.properties, tag: text }) })),
    ['edit0, edit1, edit2 and 37 more: each can also return body.tag for 200'],
  )
  const wide = petOf(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`m${index}`, text])))
  const lines = handlerChanges(
    documentOf({ a: response }, { Pet: wide }),
    documentOf({ a: response }, { Pet: petOf({}) }),
  )
  t.equal(lines.length, 21)
  t.equal(lines.at(-1), '10 more changes')
})

t.test('levels of members below many values are not compared', async (t) => {
  const wide = (count: number, member: object) =>
    petOf(Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, petOf({ member })])))
  const documentWith = (pet: object) => documentOf({ edit: { responses: { 200: json(pet) } } })
  t.same(handlerChanges(documentWith(wide(90, text)), documentWith(wide(90, int64))).length, 21)
  t.same(handlerChanges(documentWith(wide(99, text)), documentWith(wide(100, int64))), [
    'edit can also return body.m99 for 200',
  ])
})

t.test('the work is bounded, and a shared schema is compared once, however many operations have it', async (t) => {
  const wide = (count: number, member: object) =>
    petOf(Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, member])))
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const both = { requestBody: { required: true, ...json(ref('Big')) }, responses: { 200: json(ref('Big')) } }
  const documentWith = (schemas: object) =>
    documentOf(Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`edit${index}`, both])), schemas)
  const shared = { left: 100_000 }
  const lines = handlerChanges(documentWith({ Big: wide(90, text) }), documentWith({ Big: wide(90, int64) }), shared)
  t.match(lines, { 0: /^edit0, edit1, edit2 and 997 more: each receives body\.m0 as /, length: 21 })
  t.ok(shared.left > 80_000, `${shared.left}`)
  for (const [before, after] of [
    [
      { Big: wide(400, ref('In')), In: wide(400, text) },
      { Big: wide(400, ref('In')), In: wide(400, int64) },
    ],
    [{ Big: wide(50, ref('Big')) }, { Big: wide(51, ref('Big')) }],
    [{ Big: { enum: Array.from({ length: 100_000 }, (_, index) => index) } }, { Big: int64 }],
  ] as [object, object][]) {
    const work = { left: 10_000 }
    const bounded = handlerChanges(documentWith(before), documentWith(after), work)
    t.match(bounded.at(-1), /^\d+ more operations are not compared, since too many values changed$/)
    // No value is described when no work is left, and none of these needs more.
    t.ok(work.left > -101_000, `${work.left}`)
  }
})

t.test('text of a document stays on its line', async (t) => {
  const after = { parameters: [{ in: 'header', name: 'x\u001b[2J\nb', required: true, schema: text }] }
  t.same(handlerChanges(documentOf({ 'a\nb': {} }), documentOf({ 'a\nb': after })), [
    "a b also receives header['x\\u001b[2J\\nb']",
  ])
})
