import t from 'tap'
import { preconditionReader } from '../../src/preconditions/request-preconditions.ts'
import { digestedResponse } from '../../src/response/digested-response.ts'

t.test('a 428 names the headers of the validators that the operation has', async (t) => {
  const messageOf = (validators: ('etag' | 'lastModified')[]) =>
    preconditionReader({ of: 'write', validators, statuses: [412], isRequired: true })({
      raw: { headers: {} } as never,
    })?.message
  t.equal(messageOf(['etag']), 'the request must have If-Match or If-None-Match')
  t.equal(messageOf(['lastModified']), 'the request must have If-Match or If-Unmodified-Since or If-None-Match')
})

t.test('a digest is made of a whole body of a declared media type only', async (t) => {
  const etag = [{ name: 'ETag' }]
  const content = { 'application/json': {}, 'text/plain': {} }
  const operation = {
    operationId: 'read',
    schema: { response: { 200: { content }, 201: { content: { 'text/plain': {} } }, 202: {}, 203: { content } } },
    responseHeaders: { 200: etag, 201: etag, 202: etag },
  }
  const reply = { getSerializationFunction: () => JSON.stringify }
  const tagOf = (response: object, of: object = operation): unknown =>
    digestedResponse(of as never, reply as never, response as never).response.headers?.ETag
  t.match(tagOf({ status: 200, contentType: 'text/plain', body: 'text' }), /^"[\w-]{43}"$/)
  t.match(tagOf({ status: 201, body: Buffer.from('text') }), /^"[\w-]{43}"$/)
  t.match(tagOf({ status: 200, contentType: 'application/json', body: {} }), /^"[\w-]{43}"$/)
  const undigested = [
    { status: 200, body: 'of which type' },
    { status: 201, body: undefined },
    { status: 202, body: 'undescribed' },
    { status: 203, contentType: 'text/plain', body: 'without the header' },
    { status: 418, body: 'unlisted' },
  ]
  for (const response of undigested) t.equal(tagOf(response), undefined, JSON.stringify(response))
  t.equal(tagOf({ status: 201, body: 'text' }, { ...operation, responseHeaders: undefined }), undefined)
  for (const contentType of ['text/plain', 'application/xml+json'])
    t.throws(() => tagOf({ status: 200, contentType, body: {} }), /x-etag needs a whole body/)
})
