import t from 'tap'
import type { Document } from '../../src/document/openapi-document.ts'
import { lenientDocument } from '../../src/passes/lenient/lenient-document.ts'
import { structureProblems } from '../../src/rules/document-structure.ts'

/** Returns what the pass makes of a document, and the lines of its advice. */
function mended(document: object, textAt: (pointer: string) => string | undefined = () => undefined) {
  const { mended, advice } = lenientDocument(document as Document, textAt)
  return [mended, advice] as const
}

const info = { title: 'Test', version: '1' }
const base = { openapi: '3.1.0', info }
const responses = { 204: { description: 'Done.' } }
const operation = (more: object) => ({ ...base, paths: { '/a': { get: { responses, ...more } } } })
const scheme = (more: object) => ({ ...base, components: { securitySchemes: { A: more } } })
const schema = (more: unknown, openapi = '3.1.0') => ({ ...base, openapi, components: { schemas: { A: more } } })

const at = { get: '#/paths/~1a/get', schema: '#/components/schemas/A' }

t.test('a value of a wrong type is read as its author meant it, with advice', async (t) => {
  const typeOf = 'must be one of string, number, integer, boolean, array, object, null, or an array of them'
  const infoOf = '#/info: must be an object with a title and a version, not'
  const cases: [given: object, expected: object, advice: string][] = [
    [{ ...base, openapi: 3.1 }, base, '#/openapi: must be a version of OpenAPI, not 3.1; read as "3.1.0"; correct it'],
    [{ ...base, openapi: 3 }, { ...base, openapi: '3.0.0' }, '#/openapi: must be a version of OpenAPI, not 3;'],
    [{ ...base, openapi: '3.1' }, base, '#/openapi: must be a version of OpenAPI, not "3.1";'],
    [
      { ...base, info: { title: 'Test', version: 1 } },
      base,
      '#/info/version: must be a string, not 1; read as "1"; correct it',
    ],
    [
      { ...base, info: { title: 'Test' } },
      { ...base, info: { ...info, version: '0.0.0' } },
      '#/info/version: is missing; assumed to be "0.0.0"; add it',
    ],
    [{ ...base, info: 'Test' }, { ...base, info: { title: 'API', version: '0.0.0' } }, `${infoOf} "Test";`],
    [{ openapi: '3.1.0' }, { ...base, info: { title: 'API', version: '0.0.0' } }, '#/info: is missing; assumed to be'],
    [operation({ summary: 1 }), operation({ summary: '1' }), `${at.get}/summary: must be a string, not 1; read as "1"`],
    [operation({ summary: [] }), operation({}), `${at.get}/summary: must be a string, not []; ignored; correct it`],
    [operation({ tags: 'a' }), operation({}), `${at.get}/tags: must be an array of strings, not "a"; ignored`],
    [operation({ operationId: 1 }), operation({ operationId: '1' }), `${at.get}/operationId: must be a string, not 1;`],
    [operation({ parameters: {} }), operation({ parameters: [] }), `${at.get}/parameters: must be an array, not {};`],
    [operation({ parameters: [null] }), operation({ parameters: [] }), `${at.get}/parameters/0: is null, and ignored`],
    [operation({ parameters: null }), operation({}), `${at.get}/parameters: is null, and ignored; remove it`],
    [
      operation({ parameters: [{ name: 'a', in: 'Query', required: 'true', schema: {} }] }),
      operation({ parameters: [{ name: 'a', in: 'query', required: true, schema: {} }] }),
      `${at.get}/parameters/0/in: must be path, query, querystring, header or cookie, not "Query"; read as "query"`,
    ],
    [
      operation({ parameters: [{ name: 'a', in: 'query', type: 'integer', format: 'int64' }] }),
      operation({ parameters: [{ name: 'a', in: 'query', schema: { type: 'integer', format: 'int64' } }] }),
      `${at.get}/parameters/0: has type, format outside of its schema; read as its schema; move them there`,
    ],
    [
      operation({ responses: { 204: null } }),
      operation({ responses: { 204: { description: '' } } }),
      `${at.get}/responses/204: is null, and read as {}`,
    ],
    [operation({ responses: [] }), operation({ responses: {} }), `${at.get}/responses: must be an object, not [];`],
    [
      operation({ parameter: [] }),
      operation({}),
      `${at.get}/parameter: parameter is not a field of an operation, and ignored; write parameters`,
    ],
    [
      operation({ operationID: 'a' }),
      operation({ operationId: 'a' }),
      `${at.get}/operationID: operationID is not a field of an operation; read as operationId; correct it`,
    ],
    [
      operation({ note: 'a' }),
      operation({}),
      `${at.get}/note: note is not a field of an operation, and ignored; remove it, or begin its name with x-`,
    ],
    [
      operation({ responses: { 200: { description: 'a', content: { 'a/b': { examples: [1] } } } } }),
      operation({ responses: { 200: { description: 'a', content: { 'a/b': {} } } } }),
      `${at.get}/responses/200/content/a~1b/examples: must be an object, not [1]; ignored`,
    ],
    [
      schema({ type: 'String' }),
      schema({ type: 'string' }),
      `${at.schema}/type: ${typeOf}, not "String"; read as "string"`,
    ],
    [
      schema({ type: ['int', null] }),
      schema({ type: ['integer', 'null'] }),
      `${at.schema}/type: ${typeOf}, not ["int",null];`,
    ],
    [schema({ type: 'any' }), schema({}), `${at.schema}/type: ${typeOf}, not "any"; ignored`],
    [schema({ required: true }), schema({}), `${at.schema}/required: must be an array of strings, not true; ignored`],
    [
      schema({ required: 'a' }),
      schema({ required: ['a'] }),
      `${at.schema}/required: must be an array of strings, not "a";`,
    ],
    [
      schema({ enum: 'a' }),
      schema({ enum: ['a'] }),
      `${at.schema}/enum: must be an array with at least one value, not "a"`,
    ],
    [
      schema({ maxLength: '10' }),
      schema({ maxLength: 10 }),
      `${at.schema}/maxLength: must be a number of at least 0, not "10"; read as 10`,
    ],
    [
      schema({ minimum: '0.50' }),
      schema({ minimum: 0.5 }),
      `${at.schema}/minimum: must be a number, not "0.50"; read as 0.5`,
    ],
    [
      schema({ uniqueItems: 'no' }),
      schema({ uniqueItems: false }),
      `${at.schema}/uniqueItems: must be true or false, not "no"`,
    ],
    [
      schema({ items: '#/a' }),
      schema({ items: { $ref: '#/a' } }),
      `${at.schema}/items: must be a schema, not "#/a"; read as {"$ref":"#/a"}`,
    ],
    [
      schema({ additionalProperties: 'false' }),
      schema({ additionalProperties: false }),
      `${at.schema}/additionalProperties: must be a schema, not "false"; read as false`,
    ],
    [
      schema({ allOf: { type: 'string' } }),
      schema({ allOf: [{ type: 'string' }] }),
      `${at.schema}/allOf: must be an array, not {"type":"string"};`,
    ],
    [
      schema({ properties: { a: null } }),
      schema({ properties: { a: {} } }),
      `${at.schema}/properties/a: is null, and read as {}`,
    ],
    [
      schema({ discriminator: 'a' }),
      schema({ discriminator: { propertyName: 'a' } }),
      `${at.schema}/discriminator: must be an object with a propertyName`,
    ],
    [schema({ enum: [] }), schema({ not: {} }), `${at.schema}/enum: has no value, so that no value is valid; add one`],
    [schema({ enum: [], not: {} }), schema({ not: {}, allOf: [{ not: {} }] }), `${at.schema}/enum: has no value`],
    [
      schema({ maxlength: 1 }),
      schema({ maxLength: 1 }),
      `${at.schema}/maxlength: maxlength is not a field of a schema; read as maxLength; correct it`,
    ],
    [
      schema({ AdditionalProperties: { type: 'string' } }),
      schema({ additionalProperties: { type: 'string' } }),
      `${at.schema}/AdditionalProperties: AdditionalProperties is not a field of a schema; read as`,
    ],
    ...['Items', 'Type', 'Not'].map((name): [object, object, string] => [
      schema({ type: 'object', [name]: { type: 'string' } }),
      schema({ type: 'object' }),
      `${at.schema}/${name}: ${name} is not a field of a schema, and ignored; `,
    ]),
    [schema({ Type: null }), schema({}), `${at.schema}/Type: Type is not a field of a schema, and ignored; write type`],
    [schema({ format: 'INT64' }), schema({ format: 'int64' }), `${at.schema}/format: is read as int64; correct it`],
    [schema({ format: ' uuid' }), schema({ format: 'uuid' }), `${at.schema}/format: is read as uuid; correct it`],
    [schema({ format: 'Binary' }), schema({ format: 'binary' }), `${at.schema}/format: is read as binary; correct it`],
    [schema({ type: 'String ' }), schema({ type: 'string' }), `${at.schema}/type: must be one of`],
    [schema({ required: 'True' }), schema({}), `${at.schema}/required: must be an array of strings, not True; ignored`],
    [
      operation({ parameters: [{ name: 'a', in: 'query', style: 'DeepObject ', schema: {} }] }),
      operation({ parameters: [{ name: 'a', in: 'query', style: 'deepObject', schema: {} }] }),
      `${at.get}/parameters/0/style: must be a style of OpenAPI, not "DeepObject "; read as "deepObject"; correct it`,
    ],
    [
      operation({ responses: { 204: `${at.get}/responses/200`, 200: { description: 'a' } } }),
      operation({ responses: { 204: { $ref: `${at.get}/responses/200` }, 200: { description: 'a' } } }),
      `${at.get}/responses/204: must be an object, not "${at.get}/responses/200"; read as {"$ref":`,
    ],
    [
      schema({ minimum: 1, exclusiveMinimum: true }),
      schema({ exclusiveMinimum: 1 }),
      `${at.schema}/exclusiveMinimum: must be a number since OpenAPI 3.1; applied to minimum, as in 3.0`,
    ],
    [
      schema({ maximum: 1, exclusiveMaximum: false }),
      schema({ maximum: 1 }),
      `${at.schema}/exclusiveMaximum: must be a number since`,
    ],
    [schema({ exclusiveMaximum: true }), schema({}), `${at.schema}/exclusiveMaximum: must be a number since`],
    [
      { ...base, openapi: ' 3.0.3 ' },
      { ...base, openapi: '3.0.3' },
      '#/openapi: must be a version of OpenAPI, not " 3.0',
    ],
    [{ ...base, openapi: '3.1.x' }, base, '#/openapi: must be a version of OpenAPI, not "3.1.x"; read as "3.1.0"'],
    [
      { ...base, paths: { '/a': { GET: { responses, summary: 1 }, Put: { responses } } } },
      { ...base, paths: { '/a': { get: { responses, summary: '1' }, put: { responses } } } },
      '#/paths/~1a/GET: GET is not a field of a path item; read as get; correct it',
    ],
    [
      { ...base, paths: { '/a': { PUT: { responses }, put: { responses } } } },
      { ...base, paths: { '/a': { put: { responses } } } },
      '#/paths/~1a/PUT: PUT is not a field of a path item, and ignored; write put',
    ],
    [
      operation({ responses: { 204: 'Done.' } }),
      operation({}),
      `${at.get}/responses/204: must be an object, not "Done."; read as {"description":"Done."}`,
    ],
    [
      operation({ responses: { 200: { description: 'a', content: { 'a/b': { type: 'string' } } } } }),
      operation({ responses: { 200: { description: 'a', content: { 'a/b': { schema: { type: 'string' } } } } } }),
      `${at.get}/responses/200/content/a~1b: has type outside of its schema; read as its schema; move it there`,
    ],
    [
      operation({ responses: { 200: { description: 'a', content: { 'a/b': { examples: { one: 'a' } } } } } }),
      operation({ responses: { 200: { description: 'a', content: { 'a/b': { examples: {} } } } } }),
      `${at.get}/responses/200/content/a~1b/examples/one: must be an object, not "a"; ignored`,
    ],
    [
      operation({ parameters: [{ name: 'a', in: 'query', collectionFormat: 'csv', schema: {} }] }),
      operation({ parameters: [{ name: 'a', in: 'query', schema: {} }] }),
      `${at.get}/parameters/0/collectionFormat: collectionFormat is not a field of a parameter, and ignored; write style`,
    ],
    [
      { ...base, paths: { '/a': { get: null } } },
      { ...base, paths: { '/a': { get: {} } } },
      `${at.get}: is null, and read as {}; correct it`,
    ],
    [
      scheme({ type: 'HTTP', scheme: 'bearer' }),
      scheme({ type: 'http', scheme: 'bearer' }),
      '#/components/securitySchemes/A/type: must be one of apiKey, http, mutualTLS, oauth2, openIdConnect, not "HTTP"',
    ],
    [
      scheme({ type: 'apiKey', in: 'Header', name: 'X-Key' }),
      scheme({ type: 'apiKey', in: 'header', name: 'X-Key' }),
      '#/components/securitySchemes/A/in: must be query, header or cookie, not "Header"; read as "header"',
    ],
    [schema({ min: 1 }), schema({}), `${at.schema}/min: min is not a field of a schema, and ignored; write minimum`],
    [
      schema({ size: { type: 'string' } }),
      schema({}),
      `${at.schema}/size: size is not a field of a schema, and ignored; move it to properties`,
    ],
    [
      schema({ required: true }),
      schema({}),
      `${at.schema}/required: must be an array of strings, not true; ignored; name the property in required of its obj`,
    ],
    [
      schema({ type: 'date' }),
      schema({ type: 'string' }),
      `${at.schema}/type: ${typeOf}, not "date"; read as "string"`,
    ],
    [schema({ type: [] }), schema({}), `${at.schema}/type: ${typeOf}, not []; ignored`],
    [schema({ type: null }), schema({ type: 'null' }), `${at.schema}/type: ${typeOf}, not null; read as "null"`],
    [
      schema({ items: 'string' }),
      schema({ items: { type: 'string' } }),
      `${at.schema}/items: must be a schema, not "st`,
    ],
    [schema({ maxLength: -1 }), schema({}), `${at.schema}/maxLength: must be a number of at least 0, not -1; ignored`],
    [schema({ multipleOf: 0 }), schema({}), `${at.schema}/multipleOf: must be a number above 0, not 0; ignored`],
    [schema({ oneOf: [] }), schema({}), `${at.schema}/oneOf: has no schema, and is ignored; add one`],
    [
      schema({ type: 'string', pattern: '/^a$/' }),
      schema({ type: 'string', pattern: '^a$' }),
      `${at.schema}/pattern: the slashes around a pattern are a part of it; read as ^a$; remove them`,
    ],
    [
      schema({ pattern: '/^a$/gi' }),
      schema({ pattern: '(?i)^a$' }),
      `${at.schema}/pattern: the slashes around a pattern are a part of it; read as (?i)^a$; remove them`,
    ],
    [
      schema({ type: 'string', enum: ['a', 1, true, 2, 3, 4] }),
      schema({ type: 'string', enum: ['a', '1', 'true', '2', '3', '4'] }),
      `${at.schema}/enum: its values must be strings, not 1, true, 2, 3, …; read as "1", "true", "2", "3", …; quote them`,
    ],
    [
      schema({ type: ['integer', 'null'], enum: ['1', 2, null] }),
      schema({ type: ['integer', 'null'], enum: [1, 2, null] }),
      `${at.schema}/enum: its values must be numbers, not "1"; read as 1; remove the quotes`,
    ],
  ]
  for (const [given, expected, line] of cases) {
    const [document, advice] = mended(given)
    t.same(document, expected, line)
    t.ok(advice[0]?.startsWith(line), `${advice[0]}`)
    t.same(structureProblems(document), [], line)
    t.same(mended(document), [document, []], 'a second pass changes nothing')
  }
})

t.test('a version is read as the file writes it', async (t) => {
  const [document] = mended({ ...base, info: { title: 'Test', version: 1.1 } }, (pointer) =>
    pointer === '#/info/version' ? '1.10' : undefined,
  )
  t.same(document, { ...base, info: { title: 'Test', version: '1.10' } })
})

t.test('a value of an enum of strings is read as the file writes it', async (t) => {
  const [document] = mended(schema({ type: 'string', enum: [1, 'b'] }), (pointer) =>
    pointer === `${at.schema}/enum/0` ? '1.0' : undefined,
  )
  t.same(document, schema({ type: 'string', enum: ['1.0', 'b'] }))
})

t.test('a type without a value is no type, unlike null', async (t) => {
  const [document, advice] = mended(schema({ type: null }), () => '')
  t.same([document, advice], [schema({}), [`${at.schema}/type: is null, and ignored; remove it`]])
})

t.test('what has no effect beside a reference or a type stays, and is reported', async (t) => {
  const parameters = [{ $ref: '#/components/parameters/A', required: true, description: 'a', note: 1 }]
  const cases: [document: object, line: string][] = [
    [operation({ parameters }), `${at.get}/parameters/0: required: no effect beside $ref; remove it`],
    [
      schema({ $ref: '#/components/schemas/B', type: 'object', maxLength: 5, title: 'a', nullable: true }, '3.0.3'),
      `${at.schema}: type, maxLength: no effect beside $ref; remove it`,
    ],
    [
      schema({ type: 'string', enum: ['a', null] }),
      `${at.schema}/enum: null: no effect beside the type string; remove it, or correct the type`,
    ],
    [
      schema({ type: ['array', 'object', 'integer'], enum: [[], {}, 1, 1.5, false] }),
      `${at.schema}/enum: 1.5, false: no effect beside the type array or object or integer; remove it, or correct the type`,
    ],
    [
      schema({ type: 'integer', enum: ['9223372036854775807'] }),
      `${at.schema}/enum: "9223372036854775807": no effect beside the type integer; remove it, or correct the type`,
    ],
    [
      schema({ type: 'string', enum: [2 ** 63] }),
      `${at.schema}/enum: 9223372036854776000: no effect beside the type string; remove it, or correct the type`,
    ],
  ]
  for (const [document, line] of cases) t.same([mended(document)[0], mended(document)[1][0]], [document, line])
  for (const more of [
    { type: ['string', 'null'], enum: ['a', null] },
    { type: 'string', nullable: true, enum: ['a', null] },
    { type: ['string', 'integer'], enum: ['a', 1] },
    { type: 'null', enum: [null] },
    // The structure is rejected, and what an enum means beside it is unknown.
    { type: { a: 1 }, enum: [2], properties: {} },
    { pattern: '/a/' },
    { $ref: '#/components/schemas/B', maxLength: 5 },
  ])
    t.same(mended(schema(more)), [schema(more), []], JSON.stringify(more))
})

t.test('what OpenAPI 3.1 allows in 3.0 is applied, with advice', async (t) => {
  const given = schema({ type: ['string', 'null'], const: 'a', exclusiveMinimum: 3 }, '3.0.3')
  t.same(mended(given), [
    given,
    [
      `${at.schema}: const: new in OpenAPI 3.1, and applied as there`,
      `${at.schema}/type: is new in OpenAPI 3.1, and applied as there; in 3.0, use one type and nullable`,
      `${at.schema}: exclusiveMinimum: no effect beside the type string or null; remove it, or correct the type`,
      `${at.schema}/exclusiveMinimum: must be true or false in OpenAPI 3.0; applied as a limit, as in 3.1`,
    ],
  ])
})

t.test('integers beyond 2^53 - 1 have a format, if one holds them', async (t) => {
  const integer = { type: 'integer' }
  const advice = (format: string) => [
    `${at.schema}: has integers beyond 2^53 - 1 without a format; read as the format ${format}; add it`,
  ]
  const cases: [keywords: object, format: string][] = [
    [{ maximum: 2 ** 63 }, 'int64'],
    [{ minimum: -(2 ** 63) }, 'int64'],
    [{ const: 2 ** 60 }, 'int64'],
    [{ type: ['integer', 'null'], default: 2 ** 63 }, 'int64'],
    [{ minimum: 0, maximum: 2 ** 64 }, 'uint64'],
    [{ enum: [1, 2 ** 64 - 2048] }, 'uint64'],
  ]
  for (const [keywords, format] of cases) {
    const given = { ...integer, ...keywords }
    t.same(mended(schema(given)), [schema({ ...given, format }), advice(format)])
  }
  const others = [
    { maximum: 2 ** 64 },
    { minimum: 0, maximum: 2 ** 65 },
    { minimum: -1, maximum: 2 ** 64 },
    { maximum: 2 ** 53 - 1 },
    { maximum: 2 ** 63, format: 'int32' },
    { maximum: 2 ** 63, type: ['integer', 'number'] },
  ]
  for (const keywords of others) {
    const given = schema({ ...integer, ...keywords })
    t.same(mended(given), [given, []])
  }
})

t.test('a keyword without effect is reported, and stays', async (t) => {
  const given = schema({ type: 'object', items: {}, maxLength: 1 })
  t.same(mended(given), [
    given,
    [
      `${at.schema}: maxLength: no effect beside the type object; remove it, or correct the type`,
      `${at.schema}: items: no effect beside the type object; remove it, or correct the type`,
    ],
  ])
  for (const types of ['integer', 'number']) t.same(mended(schema({ type: types, minimum: 1 }))[1], [])
})

t.test('what leaves a doubt stays as it is, and is refused', async (t) => {
  const cases: [document: object, pointer: string][] = [
    [{ ...base, openapi: 2 }, '#/openapi'],
    [{ ...base, security: 1 }, '#/security'],
    [{ ...base, security: [1] }, '#/security'],
    [operation({ parameters: [{ name: 'a', in: 'body', schema: {} }] }), `${at.get}/parameters/0/in`],
    [operation({ parameters: 1 }), `${at.get}/parameters`],
    [operation({ parameters: { name: 'a' } }), `${at.get}/parameters`],
    [operation({ responses: { 200: 1 } }), `${at.get}/responses/200`],
    [schema({ type: 'text' }), `${at.schema}/type`],
    [schema({ type: [1] }), `${at.schema}/type`],
    [schema({ enum: {} }), `${at.schema}/enum`],
    [schema({ required: 1 }), `${at.schema}/required`],
    [schema({ maximum: '9223372036854775807' }), `${at.schema}/maximum`],
    [schema({ maximum: '1e3' }), `${at.schema}/maximum`],
    [schema({ uniqueItems: 1 }), `${at.schema}/uniqueItems`],
    [schema({ dependentRequired: { a: 'b' } }), `${at.schema}/dependentRequired`],
    [schema({ discriminator: {} }), `${at.schema}/discriminator`],
    [schema({ properties: ['a'] }), `${at.schema}/properties`],
    [schema({ items: 'a' }), `${at.schema}/items`],
    [schema({ allOf: { size: { type: 'string' } } }), `${at.schema}/allOf`],
    [{ ...base, components: { securitySchemes: { a: null } } }, '#/components/securitySchemes/a'],
    [scheme({ type: 'token' }), '#/components/securitySchemes/A/type'],
    [scheme({ type: 'apiKey', in: 'path', name: 'a' }), '#/components/securitySchemes/A/in'],
  ]
  for (const [document, pointer] of cases) {
    const [kept, advice] = mended(document)
    t.same([kept, advice], [document, []], pointer)
    t.match(structureProblems(kept)[0], `${pointer}: must be `)
  }
})

t.test('references, extensions and data stay as they are', async (t) => {
  const document = {
    ...operation({
      parameters: [
        { $ref: '#/components/parameters/A', note: null },
        { name: 'a', in: 'query', schema: { $ref: '#/b', title: 'b' } },
      ],
      responses: { 'x-note': null, 200: { description: '', content: { 'a/b': { example: null, 'x-a': [null] } } } },
      callbacks: { a: { '{$request.body#/url}': { post: { responses } } } },
    }),
    'x-any': null,
  }
  t.same(mended(document), [document, []])
  t.equal(mended(document)[0], document, 'a valid document is not copied')
})
