import t from 'tap'
import { compileDocument } from '../../src/compile/compile.ts'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import { deriveErrorBody } from '../../src/init/error-body.ts'

const text = { type: 'string' }
const integer = { type: 'integer' }
const object = (properties: object, required = Object.keys(properties)) => ({ type: 'object', required, properties })

/** Derives the error body of a document whose only operation has these responses. */
async function derive(responses: object) {
  const requestBody = { content: { 'application/json': { schema: integer } } }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Test', version: '1' },
    paths: { '/a': { post: { operationId: 'a', requestBody, responses: { 204: { description: '' }, ...responses } } } },
  }
  return deriveErrorBody(await compileDocument(document as Document, 'a.yaml', {}, () => ''))
}
const described = (schema: object, type = 'application/json') => ({ description: '', content: { [type]: { schema } } })

/** Returns the reply of the derived module, on one line. */
async function replyOf(schema: object, type?: string): Promise<string> {
  const derived = await derive({ default: described(schema, type) })
  if ('reasons' in derived) return derived.reasons.join('\n')
  return derived.text
    .slice(derived.text.indexOf('= (') + 2)
    .replace(/\s+/g, ' ')
    .trim()
}

t.test('an error body is derived from the names and types of its members', async (t) => {
  const json = (parameters: string, body: string, type = 'application/json') =>
    `(${parameters}) => ({ contentType: '${type}', body: ${body}, })`
  const cases: [schema: object, expected: string, type?: string][] = [
    [object({ code: integer, message: text }), json('{ message, statusCode }', '{ code: statusCode, message }')],
    [
      object({ code: integer, status: integer, message: text }),
      json('{ error, message, statusCode }', '{ code: error, status: statusCode, message }'),
    ],
    [
      object({ error: object({ code: text, message: text }) }),
      json('{ kind, message }', '{ error: { code: kind, message } }'),
    ],
    [object({ errors: { type: 'array', items: text } }), json('{ message }', '{ errors: [message] }')],
    [
      object({ errors: { type: 'array', items: object({ detail: text, field: text }, ['detail']) } }),
      json('{ message }', '{ errors: [{ detail: message }] }'),
    ],
    [object({ error: text }), json('{ message }', '{ error: message }')],
    [
      object({ error: text, message: text }),
      json('{ message, statusCode }', "{ error: STATUS_CODES[statusCode] ?? 'Error', message }"),
    ],
    [
      object(
        { type: { ...text, format: 'uri-reference' }, title: text, detail: text, status: integer, instance: text },
        ['type'],
      ),
      json(
        '{ message, statusCode }',
        "{ type: 'about:blank', title: STATUS_CODES[statusCode] ?? 'Error', detail: message, status: statusCode }",
        'application/problem+json',
      ),
      'application/problem+json',
    ],
    [
      object({
        success: { type: 'boolean' },
        version: { const: 2 },
        requestId: text,
        message: { ...text, maxLength: 9 },
      }),
      json('{ message }, { id }', '{ success: false, version: 2, requestId: id, message: message.slice(0, 9) }'),
    ],
    [
      object({ code: { ...integer, format: 'int64' }, message: text, timestamp: { ...text, format: 'date-time' } }),
      json('{ message, statusCode }', '{ code: BigInt(statusCode), message, timestamp: new Date().toISOString() }'),
    ],
    [{ oneOf: [object({ shard: integer }), object({ message: text })] }, json('{ message }', '{ message }')],
    [object({ details: { type: 'array' }, message: text }), json('{ message }', '{ details: [message], message }')],
    [text, json('{ message }', 'message')],
    [text, json('{ message }', 'message', 'text/plain'), 'text/plain'],
  ]
  for (const [schema, expected, type] of cases) t.equal(await replyOf(schema, type), expected, JSON.stringify(schema))
})

t.test('a document without errors has problem details, and a status of its own has a case', async (t) => {
  t.match(await derive({}), { text: /contentType: 'application\/problem\+json',\n {2}body: \{ title: / })
  const some = {
    400: described(object({ errors: { type: 'array', items: text } })),
    default: described(object({ message: text })),
  }
  t.match(await derive(some), {
    text: /switch \(statusCode\) \{\n {4}case 400:\n {6}return \{\n.*\n.*errors: \[message\].*\n {6}\}\n {4}default:/,
  })
  t.match(
    await derive({ 404: described(object({ message: text })) }),
    { text: /body: \{ message \}/ },
    'another status',
  )
})

t.test('a member that cannot be filled for sure is named with its place', async (t) => {
  const place = '#/paths/~1a/post/responses/default: member '
  const cases: [schema: object, expected: string][] = [
    [object({ shard: integer }), 'shard (integer) has no known meaning'],
    [object({ reason: { ...text, enum: ['a', 'b'] } }), 'reason (one of a, b) has no known meaning'],
    [object({ error: object({ shard: text }) }), 'error.shard (string) has no known meaning'],
    [object({ code: { ...text, pattern: '^E' } }), 'code (string) has no known meaning'],
  ]
  for (const [schema, expected] of cases) t.equal(await replyOf(schema), place + expected)
  t.match(await derive({ default: described({}, 'image/png') }), {
    reasons: [/the body is image\/png; only JSON and text can be made$/],
  })
  const invalid = await derive({ default: described({ ...object({ message: text }), minProperties: 2 }) })
  t.match(invalid, { reasons: [/the body of errors .* does not match the declared schema: .*properties/] })
})
