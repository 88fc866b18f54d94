import type { Call } from '../served-documents.ts'
import type { Handlers } from './handler-types.d.ts'

const done = async () => ({ status: 204, body: undefined }) as const

export const handlers: Handlers = {
  getFile: async ({ path }) => ({ status: 200, body: path.name }),
  async checkFile({ path }) {
    if (path.name === 'none') return { status: 404, body: undefined }
    return { status: 200, body: path.name }
  },
  fileOptions: done,
  putFile: done,
  patchFile: done,
  postFile: done,
  deleteFile: done,
  getFiles: done,
  deleteMe: done,
  getUser: async ({ path }) => ({ status: 200, body: path.user }),
  putUser: done,
  getPhoto: done,
}

const type = 'application/json; charset=utf-8'

export const calls: Call[] = [
  { request: 'GET /files/a', body: '"a"', answer: { 'content-length': '3' } },
  { request: 'HEAD /files/a', body: '', answer: { 'content-length': '3', 'content-type': type } },
  { request: 'HEAD /files/none', status: 404, body: '' },
  { request: 'HEAD /files/longer-than-it-may-be', status: 400, body: '' },
  { request: 'GET /files', status: 204, body: '' },
  { request: 'HEAD /files', status: 204, body: '' },
  { request: 'DELETE /files', status: 405, error: 40500, answer: { allow: 'GET, HEAD' } },
  { request: 'OPTIONS /files/a', status: 204, body: '' },
  { request: 'OPTIONS /files/longer-than-it-may-be', status: 400, error: 40003 },
  { request: 'OPTIONS /files', status: 405, error: 40500 },
  { request: 'DELETE /@me', status: 204 },
  { request: 'GET /@me', status: 405, error: 40500, answer: { allow: 'DELETE' } },
  { request: 'HEAD /@me', status: 405, answer: { allow: 'DELETE' } },
  { request: 'PUT /@me', send: '"a"', status: 405, error: 40500, answer: { allow: 'DELETE' } },
  { request: 'PATCH /@me', status: 405, error: 40500, answer: { allow: 'DELETE' } },
  { request: 'PUT /files', send: '"a"', status: 405, error: 40500, answer: { allow: 'GET, HEAD' } },
  { request: 'GET /ada', body: '"ada"' },
  { request: 'GET /', status: 404, error: 40400 },
  { request: 'GET /files/', status: 404, error: 40400 },
  { request: 'PUT /files/', send: '"a"', status: 404, error: 40400 },
  { request: 'GET //photo', status: 404, error: 40400 },
  { request: 'GET /ada/photo', status: 204 },
  { request: 'OPTIONS *', status: 404, error: 40400 },
  ...['PUT', 'PATCH', 'POST'].flatMap((method): Call[] => [
    { request: `${method} /files/a`, send: '"a"', status: 204, body: '' },
    { request: `${method} /files/a`, send: '1', status: 400, error: 40003 },
    { request: `${method} /files/a`, status: 415, error: 41500 },
  ]),
  { request: 'DELETE /files/a', status: 204, body: '' },
  {
    request: 'TRACE /files/a',
    status: 405,
    error: 40500,
    answer: { allow: 'GET, PUT, POST, DELETE, OPTIONS, HEAD, PATCH' },
  },
]
