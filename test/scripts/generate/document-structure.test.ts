import t from 'tap'
import { filesOf } from '../../../scripts/generate/contract-files.ts'
import { structureProblems } from '../../../scripts/generate/document-structure.ts'
import type { Document } from '../../../scripts/generate/openapi-document.ts'

const valid = { openapi: '3.1.0', info: { title: 'Test', version: '1' } }
const operation = (more: object) => ({ ...valid, paths: { '/a': { get: more } } })
const schema = (more: unknown) => ({ ...valid, components: { schemas: { A: more } } })

t.test('a violation of the OpenAPI structure is rejected with its location', async (t) => {
  const cases: [document: unknown, place: string, problem: string][] = [
    [null, '#', 'must be an object, not null'],
    [{ info: valid.info }, '#/openapi', 'is missing; add a text'],
    [{ ...valid, info: { title: 1, version: '1' } }, '#/info', 'must be an object with a title and a version'],
    [{ ...valid, security: [{ a: null }] }, '#/security', 'must be a list of objects with a list of scopes for each'],
    [{ ...valid, paths: [] }, '#/paths', 'must be an object, not []'],
    [operation({ parameters: null }), '#/paths/~1a/get/parameters', 'must be a list, not null'],
    [operation({ parameters: [1] }), '#/paths/~1a/get/parameters/0', 'must be an object, not 1'],
    [operation({ parameters: [{ in: 'body' }] }), '#/paths/~1a/get/parameters/0/name', 'is missing; add a text'],
    [operation({ operationId: 1 }), '#/paths/~1a/get/operationId', 'must be a text, not 1'],
    [operation({ requestBody: { required: 'no' } }), '#/paths/~1a/get/requestBody/required', 'must be true or false'],
    [schema(null), '#/components/schemas/A', 'must be an object, not null'],
    [schema({ type: [1] }), '#/components/schemas/A/type', 'must be a text or a list of texts'],
    [schema({ enum: 'a' }), '#/components/schemas/A/enum', 'must be a list, not "a"'],
    [schema({ required: true }), '#/components/schemas/A/required', 'must be a list of texts, not true'],
    [schema({ discriminator: { mapping: {} } }), '#/components/schemas/A/discriminator', 'must be an object with'],
    [
      schema({ discriminator: { propertyName: 'a', mapping: { a: 1 } } }),
      '#/components/schemas/A/discriminator',
      'must',
    ],
    [schema({ $ref: 1 }), '#/components/schemas/A/$ref', 'must be a text; correct it'],
    [
      { ...valid, components: { securitySchemes: { a: { type: 'http', scheme: 1 } } } },
      '#/components/securitySchemes/a/scheme',
      'must be a text, not 1; correct it',
    ],
    [
      { ...valid, components: { securitySchemes: { a: {} } } },
      '#/components/securitySchemes/a/type',
      'is missing; add a text',
    ],
    [
      { ...valid, components: { securitySchemes: { a: { $ref: '#/components/securitySchemes/a' } } } },
      '#/components/securitySchemes/a/$ref',
      '#/components/securitySchemes/a leads to no securityScheme; correct it',
    ],
    [
      { ...valid, components: { securitySchemes: { a: { $ref: '#/components/securitySchemes/b' } } } },
      '#/components/securitySchemes/a/$ref',
      '#/components/securitySchemes/b leads to no securityScheme; correct it',
    ],
    [
      operation({ parameters: [{ name: 'a', in: 'query', examples: { a: { $ref: '#/components/examples/A' } } }] }),
      '#/paths/~1a/get/parameters/0/examples/a/$ref',
      '#/components/examples/A leads to no example; correct it',
    ],
    [
      { ...valid, components: { examples: { A: { $ref: '#/components/examples/A' } } } },
      '#/components/examples/A/$ref',
      '#/components/examples/A leads to no example; correct it',
    ],
    ...[{}, null, { url: '/', variables: [] }, { url: '/{a}', variables: { a: {} } }, { url: 'http://[' }].map(
      (server): [unknown, string, string] => [
        { ...valid, servers: [server] },
        '#/servers',
        'must be a list of objects with a url, and with a default for each of its variables',
      ],
    ),
    [
      operation({ requestBody: { $ref: '#/x-a' } }),
      '#/paths/~1a/get/requestBody/$ref',
      '#/x-a leads to no requestBody',
    ],
    [
      operation({ requestBody: { $ref: 'a.yaml' } }),
      '#/paths/~1a/get/requestBody/$ref',
      'a.yaml is not a place in the',
    ],
  ]
  for (const [document, place, problem] of cases) {
    const [first = ''] = structureProblems(document)
    t.ok(first.startsWith(`${place}: ${problem}`), `${first} for ${place}: ${problem}`)
  }
  const loop = { a: { $ref: '#/components/responses/b' }, b: { $ref: '#/components/responses/a' } }
  t.same(structureProblems({ ...valid, components: { responses: loop } }), [
    '#/components/responses/a/$ref: #/components/responses/b leads to no response; correct it',
    '#/components/responses/b/$ref: #/components/responses/a leads to no response; correct it',
  ])
})

t.test('extensions and plain data have any shape, and a reference needs no other fields', async (t) => {
  const parameters = [{ $ref: '#/components/parameters/B' }]
  const document = {
    ...operation({ parameters, 'x-parameters': 1, responses: { 'x-a': 1, 204: { description: 'a' } } }),
    servers: [{ url: '/{v}', variables: { v: { default: 'a', enum: ['a'] } } }],
    security: [{}, { a: [] }],
    components: {
      securitySchemes: { a: { type: 'http', scheme: 'bearer' }, b: { $ref: '#/components/securitySchemes/a' } },
      parameters: {
        B: { name: 'b', in: 'query', schema: { default: { type: 1 }, discriminator: { propertyName: 'a' } } },
      },
      schemas: { A: true, C: { type: ['string'], discriminator: { propertyName: 'a', mapping: { a: 'A' } } } },
    },
  }
  t.same(structureProblems(document), [])
})

t.test('generating checks the structure first', async (t) => {
  await t.rejects(filesOf(operation({ parameters: null }) as unknown as Document, 'a.yaml'), {
    message: 'a.yaml cannot be served as it says:\n  #/paths/~1a/get/parameters: must be a list, not null; correct it',
  })
})
