import t from 'tap'
import { compileDocument } from '../../src/compile/compile.ts'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import { structureProblems } from '../../src/compile/rules/document-structure.ts'

const valid = { openapi: '3.1.0', info: { title: 'Test', version: '1' } }
const operation = (more: object) => ({ ...valid, paths: { '/a': { get: more } } })
const schema = (more: unknown) => ({ ...valid, components: { schemas: { A: more } } })

t.test('a violation of the OpenAPI structure is rejected with its location', async (t) => {
  const cases: [document: unknown, place: string, problem: string][] = [
    [null, '#', 'must be an object, not null'],
    [{ info: valid.info }, '#/openapi', 'is missing; add a string'],
    [{ ...valid, openapi: '3.3.0' }, '#/openapi', '3.3.0 is not supported; use 3.0, 3.1 or 3.2'],
    [{ ...valid, info: { title: 1, version: '1' } }, '#/info', 'must be an object with a title and a version'],
    [
      { ...valid, security: [{ a: null }] },
      '#/security',
      'must be an array of objects with an array of scopes for each',
    ],
    [{ ...valid, paths: [] }, '#/paths', 'must be an object, not []'],
    [operation({ parameters: null }), '#/paths/~1a/get/parameters', 'must be an array, not null'],
    [operation({ parameters: [1] }), '#/paths/~1a/get/parameters/0', 'must be an object, not 1'],
    [operation({ parameters: [{ in: 'body' }] }), '#/paths/~1a/get/parameters/0/name', 'is missing; add a string'],
    [operation({ operationId: 1 }), '#/paths/~1a/get/operationId', 'must be a string, not 1'],
    [operation({ requestBody: { required: 'no' } }), '#/paths/~1a/get/requestBody/required', 'must be true or false'],
    [schema(null), '#/components/schemas/A', 'must be an object, not null'],
    [
      schema({ type: [1] }),
      '#/components/schemas/A/type',
      'must be one of string, number, integer, boolean, array, object, null, or an array of them',
    ],
    [schema({ enum: 'a' }), '#/components/schemas/A/enum', 'must be an array with at least one value, not "a"'],
    [schema({ minimum: '1' }), '#/components/schemas/A/minimum', 'must be a number, not "1"'],
    [schema({ exclusiveMaximum: 'a' }), '#/components/schemas/A/exclusiveMaximum', 'must be a number, not "a"'],
    [schema({ maxContains: null }), '#/components/schemas/A/maxContains', 'must be a number, not null'],
    [schema({ uniqueItems: 1 }), '#/components/schemas/A/uniqueItems', 'must be true or false, not 1'],
    [
      schema({ dependentRequired: { a: 'b' } }),
      '#/components/schemas/A/dependentRequired',
      'must be an object with arrays of strings',
    ],
    [schema({ required: true }), '#/components/schemas/A/required', 'must be an array of strings, not true'],
    [schema({ discriminator: { mapping: {} } }), '#/components/schemas/A/discriminator', 'must be an object with'],
    [
      schema({ discriminator: { propertyName: 'a', mapping: { a: 1 } } }),
      '#/components/schemas/A/discriminator',
      'must',
    ],
    [schema({ $ref: 1 }), '#/components/schemas/A/$ref', 'must be a string; correct it'],
    [
      { ...valid, components: { securitySchemes: { a: { type: 'http', scheme: 1 } } } },
      '#/components/securitySchemes/a/scheme',
      'must be a string, not 1; correct it',
    ],
    [
      { ...valid, components: { securitySchemes: { a: {} } } },
      '#/components/securitySchemes/a/type',
      'is missing; add a string',
    ],
    [
      { ...valid, components: { securitySchemes: { a: { $ref: '#/components/securitySchemes/a' } } } },
      '#/components/securitySchemes/a/$ref',
      '#/components/securitySchemes/a does not resolve to the expected securityScheme; correct it',
    ],
    [
      { ...valid, components: { securitySchemes: { a: { $ref: '#/components/securitySchemes/b' } } } },
      '#/components/securitySchemes/a/$ref',
      '#/components/securitySchemes/b does not resolve to the expected securityScheme; correct it',
    ],
    [
      operation({ parameters: [{ name: 'a', in: 'query', examples: { a: { $ref: '#/components/examples/A' } } }] }),
      '#/paths/~1a/get/parameters/0/examples/a/$ref',
      '#/components/examples/A does not resolve to the expected example; correct it',
    ],
    [
      { ...valid, components: { examples: { A: { $ref: '#/components/examples/A' } } } },
      '#/components/examples/A/$ref',
      '#/components/examples/A does not resolve to the expected example; correct it',
    ],
    ...[{}, null, { url: '/', variables: [] }, { url: '/{a}', variables: { a: {} } }, { url: 'http://[' }].map(
      (server): [unknown, string, string] => [
        { ...valid, servers: [server] },
        '#/servers',
        'must be an array of objects with a url, and with a default for each of its variables',
      ],
    ),
    [
      operation({ requestBody: { $ref: '#/x-a' } }),
      '#/paths/~1a/get/requestBody/$ref',
      '#/x-a does not resolve to the expected requestBody',
    ],
    [
      operation({ requestBody: { $ref: 'a.yaml' } }),
      '#/paths/~1a/get/requestBody/$ref',
      'a.yaml does not point into this',
    ],
  ]
  for (const [document, place, problem] of cases) {
    const [first = ''] = structureProblems(document)
    t.ok(first.startsWith(`${place}: ${problem}`), `${first} for ${place}: ${problem}`)
  }
  const loop = { a: { $ref: '#/components/responses/b' }, b: { $ref: '#/components/responses/a' } }
  t.same(structureProblems({ ...valid, components: { responses: loop } }), [
    '#/components/responses/a/$ref: #/components/responses/b does not resolve to the expected response; correct it',
    '#/components/responses/b/$ref: #/components/responses/a does not resolve to the expected response; correct it',
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

t.test('an invalid structure is reported before any other problem', async (t) => {
  await t.rejects(compileDocument(operation({ parameters: null }) as unknown as Document, 'a.yaml'), {
    message:
      'a.yaml cannot be served as written:\n  #/paths/~1a/get/parameters: must be an array, not null; correct it\n1 problem costs 1 of 1 operations',
  })
})
