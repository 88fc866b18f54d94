import t from 'tap'
import { ResponseRecorder } from '../../src/idempotency/response-recorder.ts'
import {
  postgresJsPool,
  postgresKeys,
  type SqliteKeyDatabase,
  sqliteKeys,
  transactionalPostgresKeys,
} from '../../src/idempotency.ts'

const key = { id: 'A'.repeat(43), fingerprint: 'F'.repeat(43) }
const empty = { keys: 0, bytes: 0 }

t.test('a table that cannot be created rejects each claim until it can', async (t) => {
  const texts: string[] = []
  const pool = {
    async query(text: string) {
      texts.push(text)
      throw Object.assign(new Error('no permission'), { code: '42501' })
    },
  }
  const store = postgresKeys(pool)
  await t.rejects(store.claim(key), { message: 'no permission' })
  await t.rejects(store.claim(key), { message: 'no permission' })
  t.equal(texts.filter((text) => text.startsWith('CREATE TABLE')).length, 2)
})

t.test('a key that is neither free nor taken in several tries rejects the claim', async (t) => {
  const pool = { query: async (text: string) => (text.startsWith('SELECT count') ? [empty] : []) }
  await t.rejects(postgresKeys(pool).claim(key), /changed with each statement/)
  const prepare = (text: string) => ({
    get: () => (/^SELECT keys/.test(text) ? empty : undefined),
    run: () => ({ changes: 0 }),
  })
  const database: SqliteKeyDatabase = { exec: () => undefined, prepare }
  await t.rejects(sqliteKeys(database).claim(key), /changed with each statement/)
})

t.test('a connection whose transaction cannot begin is closed', async (t) => {
  const released: unknown[] = []
  const query = async (text: string): Promise<object[]> => {
    if (text.startsWith('BEGIN')) throw new Error('out of memory')
    return text.startsWith('SELECT count') ? [empty] : []
  }
  const connect = async () => ({ query, release: (destroy?: boolean) => released.push(destroy) })
  await t.rejects(transactionalPostgresKeys({ query, connect }).claim(key), { message: 'out of memory' })
  t.same(released, [true])
})

t.test('an error that is recorded decides about its connection', async (t) => {
  const raw = { shouldKeepAlive: true, hasHeader: () => false }
  const recorder = new ResponseRecorder({ raw } as never)
  recorder.header('Connection', 'close').removeHeader('connection')
  t.notOk(recorder.hasHeader('connection'))
  t.equal(recorder.getHeader('connection'), undefined)
  t.equal(recorder.header('Age', '1').getHeader('age'), '1')
  t.throws(() => recorder.recorded, { message: 'the response was not serialized at once' })
  recorder.raw.shouldKeepAlive = false
  t.equal(raw.shouldKeepAlive, false)
})

t.test('with postgres, a connection whose transaction cannot be rolled back is not released', async (t) => {
  const calls: string[] = []
  const reserved = {
    async unsafe(text: string) {
      calls.push(text)
      throw new Error('no memory')
    },
    release: () => void calls.push('release'),
  }
  const connection = await postgresJsPool({ unsafe: async () => [], reserve: async () => reserved }).connect()
  connection.release(true)
  await new Promise(setImmediate)
  t.same(calls, ['ROLLBACK'])
})
