import { bearer } from 'fastify-contract'
import type { Call } from '../served-documents.ts'
import type { Handlers } from './handler-types.d.ts'

const done = async () => ({ status: 204, body: undefined }) as const

export const handlers: Handlers = {
  listThings: async ({ query }) => ({ status: 200, body: [query.Action, query.Version, String(query.Limit)] }),
  postListThings: async ({ query }) => ({ status: 200, body: [`posted ${query.Action}`] }),
  deleteThing: done,
  postDeleteThing: done,
  createThing: async ({ body }) => ({ status: 201, body: body.name }),
  countThings: async () => ({ status: 200, body: 2 }),
  updateAccount: done,
  logOut: async ({ path }) => ({ status: 200, body: path.id }),
  logOutAll: done,
  getMe: done,
  getBucket: done,
  checkBucket: done,
  getAcl: async ({ path }) => ({ status: 200, body: path.bucket }),
  runFast: async ({ path }) => ({ status: 200, body: path.id }),
  runSlow: done,
  listTasks: done,
  async tasksAfter({ query }) {
    const id: bigint = query.id
    return { status: 200, body: [query.op, id] }
  },
  tasksByStatus: async ({ query }) => ({ status: 200, body: query }),
  detectFace: async ({ body }) => ({ status: 200, body: body.url }),
  async detectFaceInStream({ body }) {
    for await (const _ of body);
    return { status: 204, body: undefined }
  },
  getTask: async ({ path }) => ({ status: 200, body: path.id }),
}

const scopes: Record<string, string[]> = { reader: [], remover: ['remove'] }

export const verifiers = { token: bearer((token) => scopes[token] && { name: token, scopes: scopes[token] }) }

const version = 'Version=2011-01-01'
const remove = `/?Action=Delete%3AThing,+now&${version}`
const target = (operation: string) => ({ 'x-amz-target': `Things_2013.${operation}` })
const unselected = (names: string) => ({ message: `${names} must have values that select an operation of this path` })

export const calls: Call[] = [
  { request: `GET /?Action=ListThings&${version}`, body: '["ListThings","2011-01-01","undefined"]' },
  { request: `GET /?Limit=2&${version}&%41%63%74%69%6F%6E=%4CistThings`, body: '["ListThings","2011-01-01","2"]' },
  { request: `HEAD /?Action=ListThings&${version}`, body: '' },
  { request: `POST /?Action=ListThings&${version}`, body: '["posted ListThings"]' },
  {
    request: `GET /?Action=ListThings&${version}&Limit=a`,
    status: 400,
    body: { message: 'query/Limit must be integer' },
  },
  // Each operation has its own security and headers.
  { request: `GET ${remove}&Name=a`, status: 401, answer: { deprecation: '@1769817600' } },
  { request: `GET ${remove}&Name=a`, headers: { authorization: 'Bearer reader' }, status: 403 },
  { request: `GET ${remove}&Name=a`, headers: { authorization: 'Bearer remover' }, status: 204 },
  { request: `POST ${remove}`, headers: { authorization: 'Bearer remover' }, status: 400, error: 40003 },
  { request: 'POST /', headers: target('Create'), send: { name: 'a' }, status: 201, body: '"a"' },
  { request: 'POST /', headers: target('Create'), send: {}, status: 400, error: 40003 },
  { request: 'POST /', headers: target('Create'), status: 415 },
  { request: 'POST /', headers: target('Count'), body: '2' },
  // Without the values of an operation there is none, and so no security to check.
  { request: 'GET /?Action=ListThings', status: 400, error: 40003, body: unselected('query/Action and query/Version') },
  { request: `GET /?Action=ListThings&Action=ListThings&${version}`, status: 400 },
  { request: `GET /?Action=%FF&${version}`, status: 400 },
  { request: 'HEAD /', status: 400 },
  {
    request: 'POST /',
    headers: target('create'),
    status: 400,
    body: unselected('query/Action and query/Version and header/X-Amz-Target'),
  },
  { request: 'PUT /', status: 405, answer: { allow: 'GET, HEAD, POST' } },
  { request: `PUT /?Action=ListThings&${version}`, status: 405, answer: { allow: 'GET, HEAD, POST' } },
  { request: '%FF', status: 400 },
  { request: 'GET /%FF', status: 400 },
  // The target of a selected route cannot be sent.
  { request: `GET /%ED%A0%80query.Action=ListThings&query.${version}/`, status: 400 },
  { request: 'POST /accounts/a%2Fb?operation=logout', body: '"a/b"' },
  { request: 'POST /accounts/a?operation=logout&deep=true', status: 204 },
  { request: 'POST /accounts/a?operation=logout&deep=false', body: '"a"' },
  { request: 'POST /accounts/a?operation=other', status: 204 },
  { request: 'POST /accounts/a', status: 204 },
  { request: 'POST /accounts/?operation=logout', status: 404 },
  { request: 'POST /accounts/me?operation=logout', status: 405, answer: { allow: 'GET, HEAD' } },
  { request: 'GET /accounts/me?operation=logout', status: 204 },
  { request: 'GET /things?acl=true', body: '"things"' },
  { request: 'GET /things?acl', status: 400, body: { message: /query\/acl/ } },
  { request: 'GET /things?acl=false', status: 204 },
  { request: 'GET /things', status: 204 },
  { request: 'HEAD /things?acl=true', status: 204 },
  { request: 'PUT /jobs/a%3Ab:run?mode=1', body: '"a:b"' },
  { request: 'PUT /jobs/a:run?mode=2', status: 204 },
  { request: 'PUT /jobs/a:run?mode=3', status: 400, body: unselected('query/mode') },
  { request: 'PUT /jobs/a%3Arun?mode=1', status: 404 },
  { request: 'POST /faces', send: { url: 'a' }, body: '"a"' },
  { request: 'POST /faces', headers: { 'content-type': 'Application/JSON; charset=utf-8' }, send: '{"url":"a"}' },
  { request: 'POST /faces', send: {}, status: 400, error: 40003 },
  { request: 'POST /faces', headers: { 'content-type': 'application/octet-stream' }, send: 'a', status: 204 },
  { request: 'POST /faces', headers: { 'content-type': 'text/plain' }, send: 'a', status: 415, error: 41500 },
  { request: 'POST /faces', status: 415 },
  { request: 'GET /tasks', status: 204 },
  { request: 'GET /tasks?op=after', status: 204 },
  { request: 'GET /tasks?op=after&id=9007199254740993', body: '["after",9007199254740993]' },
  { request: 'GET /tasks?op=after&id=a', status: 400, body: { message: /query\/id must be an int64 integer/ } },
  { request: 'GET /tasks?status=open', body: '{"status":"open"}' },
  { request: 'GET /tasks?status=closed', status: 400, body: { message: /query\/status must NOT have more than 4/ } },
  { request: 'GET /tasks?status=a&status=b', status: 400, body: { message: 'query/status must be given once' } },
  { request: 'GET /tasks/7?full', body: '"7"' },
  { request: 'GET /tasks/7', status: 400, body: { message: "query must have required property 'full'" } },
  { request: 'GET /tasks/7?full=1', status: 400, body: { message: /query\/full/ } },
]
