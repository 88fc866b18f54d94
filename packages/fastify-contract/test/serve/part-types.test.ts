import t, { type Test } from 'tap'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import type { AnyHandler } from '../../src/serve/request-steps.ts'
import { serveDocument } from '../support/serve-document.ts'

const document = {
  openapi: '3.1.0',
  info: { title: 'Parts', version: '1' },
  paths: {
    '/a': {
      post: {
        operationId: 'a',
        requestBody: {
          content: {
            'multipart/form-data': {
              schema: {
                type: 'object',
                properties: {
                  xml: { type: 'string' },
                  photo: { type: 'string' },
                  meta: { type: 'object' },
                  list: { type: 'array', items: { type: 'object' } },
                  text: { type: 'string' },
                },
              },
              encoding: { xml: { contentType: 'application/xml; charset=utf-8' }, photo: { contentType: 'image/*' } },
            },
          },
        },
        responses: { 200: { content: { 'application/json': {} } } },
      },
    },
  },
} as unknown as Document

async function post(t: Test, name: string, text: string, contentType: string | undefined) {
  const app = await serveDocument(document, {
    handlers: {
      a: (async ({ body }: { body: AsyncIterable<{ name: string }> }) => {
        const names: string[] = []
        for await (const part of body) names.push(part.name)
        return { status: 200, body: names }
      }) as unknown as AnyHandler,
    },
  })
  t.teardown(() => app.close())
  const type = contentType === undefined ? '' : `Content-Type: ${contentType}\r\n`
  return await app.inject({
    method: 'POST',
    url: '/a',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    payload: `--b\r\nContent-Disposition: form-data; name="${name}"\r\n${type}\r\n${text}\r\n--b--\r\n`,
  })
}

const cases: [name: string, contentType: string | undefined, status: number, message?: RegExp][] = [
  ['xml', 'application/xml; charset=utf-8', 200],
  ['xml', 'application/xml', 200],
  ['xml', 'Application/XML;charset="UTF-8"', 200],
  ['xml', undefined, 200],
  ['xml', 'application/xml; charset=latin1', 415, /^body\/xml: the charset must be utf-8$/],
  ['xml', 'text/html', 415, /^body\/xml must have the media type application\/xml$/],
  ['photo', "image/x'y", 200],
  ['photo', 'text/plain', 415, /^body\/photo must have the media type image\/\*$/],
  ['meta', undefined, 200],
  ['meta', 'application/json', 200],
  ['meta', 'text/xml', 415, /^body\/meta must have the media type application\/json$/],
  ['list', 'application/json; charset=utf-8', 200],
  ['list', 'text/xml', 415, /^body\/list must have the media type application\/json$/],
  ['text', 'text/markdown', 200],
]

for (const [name, contentType, status, message] of cases) {
  t.test(`a part ${name} of the type ${contentType} gets ${status}`, async (t) => {
    const answer = await post(t, name, '{}', contentType)
    t.equal(answer.statusCode, status)
    if (message === undefined) t.same(answer.json(), [name])
    else t.match(answer.json().message, message)
  })
}
