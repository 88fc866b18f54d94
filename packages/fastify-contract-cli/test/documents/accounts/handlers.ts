import { exactClient } from 'fastify-contract/client'
import { type Call, refused } from '../served-documents.ts'
import type { paths } from './api.d.ts'
import type { Handlers } from './handler-types.d.ts'

type Account = Parameters<Handlers['addAccount']>[0]['body']
type Shown = Extract<Awaited<ReturnType<Handlers['addAccount']>>, { status: 200 }>['body']

/** Returns an account as a store would return it. The response must not contain its password. */
const stored = ({ parents, byName, ...account }: Account): Shown & { password: string } => ({
  ...account,
  id: 9007199254740993n,
  ...(parents && { parents: parents.map(stored) }),
  ...(byName && { byName: Object.fromEntries(Object.entries(byName).map(([name, each]) => [name, stored(each)])) }),
})

/** The types of the client's bodies leave out readOnly and writeOnly properties, too. */
export async function addAccount() {
  const client = exactClient<paths>({}, { baseUrl: 'http://127.0.0.1' })
  // @ts-expect-error a client does not send a readOnly property
  const { data } = await client.POST('/accounts', { body: { id: 1n, name: '', password: '' } })
  // @ts-expect-error a client does not receive a writeOnly property
  return data?.password
}

export const handlers: Handlers = {
  async addAccount({ body }) {
    // @ts-expect-error a handler does not receive a readOnly property
    if (body.id !== undefined) throw new Error('the id of a client')
    const password: string = body.password
    if (password === '') throw new Error('no password')
    // @ts-expect-error a handler does not return a writeOnly property
    const wrong: Shown = { id: 1n, name: '', password: '' }
    return { status: 200, body: wrong.name === '' ? stored(body) : wrong }
  },
  async putParty({ body, accept }) {
    const party =
      body.kind === 'Person' ? { ...body, number: 1n, secret: 'x' } : { ...body, number: body.number, secret: 'y' }
    if (accept === 'application/json') return { status: 200, contentType: accept, body: party }
    const parties = (async function* () {
      yield party
    })()
    return { status: 200, contentType: accept, body: parties }
  },
  async putClosed({ body }) {
    // @ts-expect-error a handler does not receive a readOnly property
    return { status: 200, body: body.since === undefined ? { ...body } : { since: body.since } }
  },
}

const add = (send: unknown) => ({ request: 'POST /accounts', send })
const put = (send: unknown) => ({ request: 'PUT /parties', send })
const close = (send: unknown) => ({ request: 'PUT /closed', send })
const ada = { name: 'Ada', password: 'p' }
const shown = '"name":"Ada","id":9007199254740993'

export const calls: Call[] = [
  { ...add(ada), body: `{${shown}}` },
  // A client can send back an account that it received.
  { ...add(`{"id":9007199254740993,"name":"Ada","password":"p"}`), body: `{${shown}}` },
  { ...add({ ...ada, id: 'whatever it is' }), body: `{${shown}}` },
  { ...add({ ...ada, parents: [{ ...ada, id: 1 }] }), body: `{${shown},"parents":[{${shown}}]}` },
  { ...add({ ...ada, byName: { a: ada } }), body: `{${shown},"byName":{"a":{${shown}}}}` },
  {
    ...add({ ...ada, owner: { id: 1, name: 'Bo' } }),
    body: `{"name":"Ada","owner":{"id":1,"name":"Bo"},"id":9007199254740993}`,
  },
  { ...add({ ...ada, owner: { name: 'an id is required where it is not readOnly' } }), ...refused },
  { ...add({ name: 'Ada' }), ...refused },
  { ...add({ ...ada, parents: [{ name: 'Bo' }] }), ...refused },
  // The property of a discriminator counts even if it is readOnly or writeOnly.
  { ...put({ kind: 'Person', secret: 's' }), body: '{"kind":"Person","number":1}' },
  { ...put({ kind: 'Person', number: 2 }), body: '{"kind":"Person","number":1}' },
  { ...put('{"kind":"Company","number":9007199254740993}'), body: '{"kind":"Company","number":9007199254740993}' },
  { ...put({ kind: 'Company' }), ...refused },
  { ...put({ secret: 's' }), ...refused },
  {
    ...put({ kind: 'Person', secret: 's' }),
    headers: { accept: 'application/jsonl' },
    body: '{"kind":"Person","number":1}\n',
  },
  { ...close({ note: 'a' }), body: '{"note":"a"}' },
  { ...close({ note: 'a', since: 'not validated' }), body: '{"note":"a"}' },
  // The keywords not and if test the value as it was sent, with its readOnly properties.
  { ...close({ until: 'a' }), ...refused },
  { ...close({ other: 'a' }), ...refused },
]
