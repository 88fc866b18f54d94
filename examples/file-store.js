// A store of your own: appends each plant to a file, as a line of JSON, and syncs it. One process may use the file.
//
// $ export ACCESS_TOKENS=$(openssl rand -hex 32)
// $ STORE_URL='module:./examples/file-store.js?data/plants.jsonl' npm start --silent &
// plant-store … on http://127.0.0.1:3000, store module:./examples/file-store.js?data/plants.jsonl, …
// $ curl -s http://127.0.0.1:3000/plants -H "Authorization: Bearer $ACCESS_TOKENS" \
//     -H 'Content-Type: application/json' -d '{"id":9007199254740993,"name":"Monstera deliciosa"}'
// {"name":"Monstera deliciosa"}
// $ curl -s http://127.0.0.1:3000/plants -H "Authorization: Bearer $ACCESS_TOKENS" \
//     -H 'Content-Type: application/json' -d '{"id":9007199254740993,"name":"Ficus"}'
// {"error":40900,"message":"id 9007199254740993 belongs to another plant"}
// $ cat data/plants.jsonl
// {"id":"9007199254740993","name":"Monstera deliciosa"}
import { mkdir, open as openFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Opens the store of `module:PATH?FILE`. */
export async function open(url) {
  const path = url.slice(url.indexOf('?') + 1)
  await mkdir(dirname(path), { recursive: true })
  const file = await openFile(path, 'a+')
  const text = await file.readFile('utf8')
  // A crash in the middle of a write leaves a line without its end; its plant was never acknowledged.
  const complete = text.slice(0, text.lastIndexOf('\n') + 1)
  await file.truncate(Buffer.byteLength(complete))
  const plants = new Map()
  for (const line of complete.split('\n').slice(0, -1)) plants.set(JSON.parse(line).id, line)

  let failure
  let isClosed = false
  const assertUsable = () => {
    if (isClosed) throw new Error('the store is closed')
    if (failure !== undefined) throw failure
  }

  async function append(id, line) {
    assertUsable()
    const kept = plants.get(id)
    if (kept !== undefined) return kept === line ? 'identical' : 'conflict'
    try {
      await file.appendFile(`${line}\n`)
      await file.datasync()
    } catch (error) {
      // After a failed sync the file may differ from memory, so the store fails until it is restarted.
      failure = error
      throw error
    }
    plants.set(id, line)
    return 'created'
  }

  // Creates run one after the other, so that two of the same id cannot both be new.
  let last = Promise.resolve()
  return {
    async create({ id, name, tag }) {
      assertUsable()
      // JSON.stringify throws for a bigint, and a number would be rounded.
      const outcome = last.then(() => append(String(id), JSON.stringify({ id: String(id), name, tag })))
      last = outcome.catch(() => {})
      return await outcome
    },
    async ready() {
      assertUsable()
      await file.datasync()
    },
    async close() {
      if (isClosed) return
      await last
      isClosed = true
      await file.close()
    },
  }
}
