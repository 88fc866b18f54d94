import t from 'tap'
import type { Document } from '../../src/document/openapi-document.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import { lenientPaths } from '../support/lenient-paths.ts'

const done = { description: 'Done.' }
const bearer = { type: 'http', scheme: 'bearer' }
const key = { type: 'apiKey', in: 'header', name: 'X-Key' }
const securitySchemes = { bearerAuth: bearer, key }

function documentOf(operation: object, more: object = {}): Document {
  const get = JSON.parse(JSON.stringify({ operationId: 'a', responses: { 204: done }, ...operation }))
  const document = { openapi: '3.1.0', info: { title: 'Test', version: '1' }, paths: { '/a': { get } } }
  return { ...document, components: { securitySchemes }, ...more } as Document
}

/** Returns what the service requires of a request and returns, with the warnings; or the problems of the document. */
async function compiled(operation: object, more: object = {}) {
  const outcome = await compileDocument(documentOf(operation, more), 'a.yaml').catch(({ problems }) => problems)
  if (Array.isArray(outcome)) return outcome.map(({ pointer, text }) => `${pointer}: ${text}`)
  const { routes, warnings } = outcome
  const [{ security, schema }] = routes.operations
  return { security, statuses: Object.keys(schema.response), warnings }
}

const at = '#/paths/~1a/get'

t.test('a response without a final status is ignored beside others, with advice', async (t) => {
  const ignored = (status: string) =>
    `${at}/responses/${status}: is no status of a response, so it is ignored; use a number from 200 to 599, a range such as 4XX, or default`
  for (const openapi of ['3.0.3', '3.1.0', '3.2.0'])
    t.same(
      await compiled(
        { responses: { 101: done, 204: done, 600: done, '4XX': done, success: done, 0: done } },
        { openapi },
      ),
      { security: [], statuses: ['204', '4XX'], warnings: ['0', '101', '600', 'success'].map(ignored) },
    )
  t.same(await compiled({ responses: { 101: done, 0: done } }), [
    `${at}/responses/0: is not a status; use a number from 200 to 599, a range such as 4XX, or default`,
    `${at}/responses/101: a status from 100 to 199 does not end a request; remove it`,
  ])
})

t.test('a status with its reason, or in another case, is the status', async (t) => {
  t.same(await compiled({ responses: { '200 OK': done, '404 - Not Found': done, '500 ': done, '4xx Error': done } }), {
    security: [],
    statuses: ['200', '404', '500', '4XX'],
    warnings: [
      `${at}/responses/200%20OK: is read as the status 200; correct it`,
      `${at}/responses/404%20-%20Not%20Found: is read as the status 404; correct it`,
      `${at}/responses/500%20: is read as the status 500; correct it`,
      `${at}/responses/4xx%20Error: is read as the status 4XX; correct it`,
    ],
  })
  t.same(await compiled({ responses: { 204: done, '4xx': done, Default: done, '5Xx': done, '5XX': done } }), {
    security: [],
    statuses: ['204', '4XX', 'default', '5XX'],
    warnings: [
      `${at}/responses/4xx: is read as the status 4XX; correct it`,
      `${at}/responses/Default: is read as the status default; correct it`,
      `${at}/responses/5Xx: is no status of a response, so it is ignored; use a number from 200 to 599, a range such as 4XX, or default`,
    ],
  })
  t.same(await compiled({ responses: { 200: done, '200 OK': done } }), {
    security: [],
    statuses: ['200'],
    warnings: [
      `${at}/responses/200%20OK: is no status of a response, so it is ignored; use a number from 200 to 599, a range such as 4XX, or default`,
    ],
  })
})

t.test('an operation without responses may return any status, in each version', async (t) => {
  for (const openapi of ['3.0.3', '3.1.0'])
    for (const responses of [undefined, {}])
      t.same(await compiled({ responses }, { openapi }), {
        security: [],
        statuses: ['default'],
        warnings: [`${at}: has no response; its handler may return any status, without a body`],
      })
})

t.test('a security requirement in another form is read as a list of objects with scopes', async (t) => {
  const read = `${at}/security: is read as`
  const required = { security: [{ key: [] }], statuses: ['204'] }
  t.same(await compiled({ security: { key: [] } }), {
    ...required,
    warnings: [`${read} an array with one requirement; write it as one`],
  })
  t.same(await compiled({ security: ['key'] }), {
    ...required,
    warnings: [`${at}/security/0: is read as the scheme key without scopes; write it as an object`],
  })
  t.same(await compiled({ security: [{ key: null }] }), {
    ...required,
    warnings: [`${at}/security/0/key: is read as an empty array of scopes; write it as one`],
  })
  t.same(await compiled({ security: [{ key: 'write' }] }), {
    security: [{ key: ['write'] }],
    statuses: ['204'],
    warnings: [`${at}/security/0/key: is read as the scope write; write it as an array`],
  })
  for (const security of [null, 'key', 1, [null], [1], [{ key: 1 }], [['key']]])
    t.match(
      await compiled({ security }),
      [/security: must be an array of objects with an array of scopes/],
      JSON.stringify(security),
    )
})

t.test('a scheme that is not defined never opens an operation', async (t) => {
  t.same(await compiled({ security: [{ BearerAuth: [] }] }), {
    security: [{ bearerAuth: [] }],
    statuses: ['204'],
    warnings: [`${at}/security/0/BearerAuth: is read as the scheme bearerAuth; correct its name`],
  })
  t.same(await compiled({}, { security: [{ none: [] }, { key: [] }] }), {
    security: [{ key: [] }],
    statuses: ['204'],
    warnings: [
      '#/security/0: none is not in #/components/securitySchemes, so this alternative is ignored; add it there',
    ],
  })
  for (const security of [[{ none: [] }], [{ none: [] }, {}], [{ none: [], key: [] }], [{ none: [] }, { other: [] }]])
    t.match(
      await compiled({ security }),
      [/security: none is not in #\/components\/securitySchemes; add it there/],
      JSON.stringify(security),
    )
  const twice = { components: { securitySchemes: { key, KEY: key } } }
  t.match(await compiled({ security: [{ Key: [] }] }, twice), [/Key is not in/])
  t.same(lenientPaths(documentOf({ security: [{ none: [] }] }, { components: null })).advice, [])
  const part = await compileDocument(
    documentOf(
      { security: [{ none: [] }] },
      {
        paths: {
          '/a': { get: { operationId: 'a', responses: { 204: done }, security: [{ none: [] }] } },
          '/b': { get: { operationId: 'b', responses: { 204: done } } },
        },
      },
    ),
    'a.yaml',
    { skipUnsupported: true },
  )
  t.same(
    part.routes.operations.map(({ operationId }) => operationId),
    ['b'],
  )
})

t.test('an API key may be described as a parameter, too', async (t) => {
  const parameters = [{ name: 'x-key', in: 'header', schema: { type: 'string' } }]
  t.match(await compiled({ parameters, security: [{ key: [] }] }), { security: [{ key: [] }], warnings: [] })
})

t.test('the body of QUERY is always required', async (t) => {
  const paths = (requestBody?: object) => ({
    openapi: '3.2.0',
    paths: { '/a': { query: { operationId: 'a', responses: { 204: done }, ...(requestBody && { requestBody }) } } },
    components: { requestBodies: { Text: { content: { 'text/plain': {} } } } },
  })
  for (const body of [{ content: { 'text/plain': {} } }, { $ref: '#/components/requestBodies/Text' }]) {
    const { routes, warnings } = await compileDocument(documentOf({}, paths(body)), 'a.yaml')
    t.equal(routes.operations[0]?.bodyRequired, true)
    t.same(warnings, [
      '#/paths/~1a/query: the body of QUERY is always required (RFC 10008 section 2); add required: true',
    ])
  }
  t.match(await compiled({}, paths()), [/QUERY needs a body in each request/])
})

t.test('of several keys that mean one status, the first is read', async (t) => {
  const { statuses, warnings } = (await compiled({ responses: { '200 OK': done, '200 Fine': done } })) as {
    statuses: string[]
    warnings: string[]
  }
  t.same(statuses, ['200'])
  t.match(
    warnings.find((line) => line.includes('200%20Fine')),
    /is no status of a response, so it is ignored/,
  )
})

t.test('a security requirement under another name, or in another object, never opens an operation', async (t) => {
  const required = [{ key: [] }]
  for (const name of ['Security', 'SECURITY', ' security '])
    for (const [holder, document] of [
      [at, [{ [name]: required }]],
      ['#', [{}, { [name]: required }]],
    ] as const)
      t.same(await compiled(...(document as [object, object])), {
        security: required,
        statuses: ['204'],
        warnings: [
          `${holder}/${encodeURIComponent(name)}: ${name} is not a field of ${holder === '#' ? 'the document' : 'an operation'}; read as security; correct it`,
        ],
      })
  const ofPath = (item: object) => ({ paths: { '/a': item } })
  const get = { operationId: 'a', responses: { 204: done } }
  for (const [operation, security] of [
    [get, required],
    [{ ...get, security: [] }, []],
  ] as const)
    t.same(await compiled({}, ofPath({ security: required, get: operation })), {
      security,
      statuses: ['204'],
      warnings: ['#/paths/~1a/security: is no field of a path item; read as that of its operations; move it to them'],
    })
  const lost = (name: string) => `${name} is a security requirement in the wrong place; `
  const responses = { 204: { ...done, security: required } }
  for (const [operation, more, line] of [
    [{ secuirty: required }, {}, `${at}: ${lost('secuirty')}write it as security of an operation`],
    [{ securities: null }, {}, `${at}: ${lost('securities')}`],
    [{ security: [], Security: required }, {}, `${at}: ${lost('Security')}`],
    [{ responses }, {}, `${at}/responses/204: ${lost('security')}`],
    [{}, { auth: required }, `#: ${lost('auth')}`],
    [{}, { components: { securitySchemes, security: required } }, `#/components: ${lost('security')}`],
    [{}, { paths: { '/a': { get }, security: required } }, `#: security is a security requirement below paths; `],
    [
      {},
      { info: { title: 'A', version: '1', Security: required } },
      `#: Security is a security requirement below info; `,
    ],
    [{ security: {} }, { security: required }, `${at}/security: must be an array of objects`],
    [{}, ofPath({ get, security: [] }), `#/paths/~1a: ${lost('security')}`],
    [{}, ofPath({ get, security: [{}] }), `#/paths/~1a: ${lost('security')}`],
    [{}, ofPath({ get, securities: required }), `#/paths/~1a: ${lost('securities')}`],
    [{}, ofPath({ get, security: null }), `#/paths/~1a: ${lost('security')}`],
    [{}, ofPath({ $ref: '#/components/pathItems/a', security: required }), `#/paths/~1a: ${lost('security')}`],
  ] as const) {
    const components = { pathItems: { a: { get } }, securitySchemes }
    const problems = await compiled(operation, { components, ...more })
    t.match(problems, [line], line)
    t.equal((problems as string[]).length, 1, line)
  }
  const { warnings } = (await compiled({ 'x-security': required, auth: [{ key: 1 }] })) as { warnings: string[] }
  t.same(warnings, [
    `${at}/auth: auth is not a field of an operation, and ignored; remove it, or begin its name with x-`,
  ])
})

t.test('an operation that is a reference is rejected, since it may require credentials', async (t) => {
  const responses = { 204: done }
  const paths = {
    '/a': { get: { $ref: '#/paths/~1b/get' } },
    '/b': { get: { operationId: 'b', responses, security: [{ key: [] }] } },
  }
  t.same(await compiled({}, { paths }), [
    `${at}/$ref: an operation cannot be a reference; write it here, or refer to its path item`,
  ])
})
