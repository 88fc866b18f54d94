import t from 'tap'
import { compileContract } from '../../src/compile/compile.ts'
import { refusalLines } from '../support/refusal.ts'

t.test('unsupported features of OpenAPI 3.2 are rejected with location and fix', async (t) => {
  const document = 'packages/fastify-contract/test/documents/refused-3-2.yaml'
  const { message } = await compileContract(document, {
    rules: 'packages/fastify-contract/test/documents/redocly.yaml',
  }).then(
    () => new Error('taken'),
    (error: Error) => error,
  )
  const items = '#/paths/~1items/post'
  const responses = `${items}/responses`
  const ofEvents =
    'only data of an event may be required or constrained beyond its type; describe only data, event, id and retry'
  const ofParts = 'parts without names are not supported; use multipart/form-data with encoding'
  t.same(refusalLines({ message }), [
    `${document} cannot be served as written:`,
    '#/components/schemas/Pet/discriminator/defaultMapping: is not supported unless it refers to an alternative in the oneOf or anyOf of the same schema; remove it',
    `${items}/requestBody/content/application~1json/itemSchema: items of application/json are not supported in a request; use application/jsonl`,
    `${responses}/200/content/application~1jsonl/itemSchema: cannot be combined with schema; describe either the items or the whole body`,
    `${responses}/201/content/application~1json-seq/itemSchema: items of application/json-seq are not supported; use application/jsonl or text/event-stream`,
    `${responses}/202/content/multipart~1mixed/itemEncoding: ${ofParts}`,
    `${responses}/202/content/multipart~1mixed/prefixEncoding: ${ofParts}`,
    `${responses}/400/content/text~1event-stream/itemSchema: ${ofEvents}`,
    `${responses}/401/content/text~1event-stream/itemSchema: ${ofEvents}`,
    `${responses}/402/content/text~1event-stream/itemSchema: ${ofEvents}`,
    '#/paths/~1methods/additionalOperations/CONNECT: CONNECT is not a supported method; use another one, such as POST',
    '#/paths/~1methods/additionalOperations/copy: copy is not a supported method; methods are case-sensitive: write COPY',
    '#/paths/~1methods/additionalOperations/post: is a method of OpenAPI itself; write it as post, beside additionalOperations',
    '#/paths/~1methods/query: QUERY needs a body in each request (RFC 10008 section 2); add a required requestBody',
    ...[
      '0: parameter all: is the whole query string, so parameter form cannot be beside it; remove one of them',
      '0: parameter all: is the whole query string, so parameter schema cannot be beside it; remove one of them',
      '0: parameter all: text/csv is not supported for a query string; use application/x-www-form-urlencoded or application/json',
      '1: parameter form: is the whole query string, so parameter all cannot be beside it; remove one of them',
      '1: parameter form: is the whole query string, so parameter schema cannot be beside it; remove one of them',
      '1/content/application~1x-www-form-urlencoded/schema: a form must be an object; describe each field as a property',
      '2: parameter schema: is the whole query string; describe it by content with exactly one media type',
    ].map((line) => `#/paths/~1search/get/parameters/${line}`),
  ])
})
