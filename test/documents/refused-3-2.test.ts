import t from 'tap'
import { contractFiles } from '../../scripts/generate/contract-files.ts'

t.test('unsupported features of OpenAPI 3.2 are rejected with location and remedy', async (t) => {
  const document = 'test/documents/refused-3-2.yaml'
  const { message } = await contractFiles(document, 'test/documents/redocly.yaml').then(
    () => new Error('taken'),
    (error: Error) => error,
  )
  const items = '#/paths/~1items/post'
  const responses = `${items}/responses`
  const ofEvents =
    'an event may have data, event, id and retry, where only data has more than a type, and only data is required'
  const ofParts = 'parts without names are not read or written; use multipart/form-data with encoding'
  t.same(message.split('\n  '), [
    `${document} cannot be served as it says:`,
    '#/paths/~1methods/query: QUERY has a body in each request (RFC 10008 section 2); describe one that is required',
    '#/paths/~1methods/additionalOperations/post: is no additional operation; write it as post, beside additionalOperations',
    '#/paths/~1methods/additionalOperations/copy: copy is no method that is served; write COPY',
    '#/paths/~1methods/additionalOperations/CONNECT: CONNECT is no method that is served; use another one, such as POST',
    '#/paths/~1search/get/parameters/0: parameter all: a whole query string is not read; describe each parameter with in: query',
    `${items}/requestBody/content/application~1json/itemSchema: a request is not read by its items; describe the whole with schema`,
    `${responses}/200/content/application~1jsonl/itemSchema: stands beside schema; describe the items or the whole`,
    `${responses}/201/content/application~1json-seq/itemSchema: items of application/json-seq are not written; use application/jsonl or text/event-stream`,
    `${responses}/202/content/multipart~1mixed/prefixEncoding: ${ofParts}`,
    `${responses}/202/content/multipart~1mixed/itemEncoding: ${ofParts}`,
    `${responses}/400/content/text~1event-stream/itemSchema: ${ofEvents}`,
    `${responses}/401/content/text~1event-stream/itemSchema: ${ofEvents}`,
    `${responses}/402/content/text~1event-stream/itemSchema: ${ofEvents}`,
    '#/components/schemas/Pet/discriminator/defaultMapping: is not read unless it leads to an alternative beside it, in oneOf or anyOf; leave it out',
  ])
})
