import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { freePort } from '../../scripts/system/free-port.ts'
import { holdsWithin } from '../../scripts/system/until.ts'
import { copyProject } from '../support/copy.ts'
import { useHouseDocument } from '../support/house-document.ts'

const operations = `
    get:
      operationId: listPlants
      summary: List the plants
      description: Gives every plant of the store.
      tags: [Plants]
      responses:
        '200':
          description: The plants.
          content:
            application/json:
              schema: { type: array, items: { $ref: '#/components/schemas/NewPlant' } }
              example: [{ id: 3, name: Monstera deliciosa }]
        '400': &error
          description: Unexpected error.
          content: { application/json: { schema: { $ref: '#/components/schemas/Error' }, example: { error: 40000, message: no } } }
        '401': *error
        default: *error
`
const path = `
  /plants/{plant-id}:
    parameters:
      - name: plant-id
        in: path
        required: true
        description: Identification number of the plant.
        example: 1
        schema: { type: integer, format: int64, examples: [1] }
    get:
      operationId: getPlant
      summary: Get a plant
      description: Gives the plant of an id.
      tags: [Plants]
      responses:
        '200':
          description: The plant.
          content: { application/json: { schema: { $ref: '#/components/schemas/Plant' }, example: { name: Monstera deliciosa } } }
        '400': *error
        '401': *error
        default: *error
`

t.test('an edit of the document leads through a compile error and a new handler to a restarted service', async (t) => {
  const directory = copyProject(t)
  await useHouseDocument(directory)
  const port = await freePort()
  const token = 'a-token-of-the-tests-0123456789-abcdef'
  const env = { ...process.env, ACCESS_TOKENS: token, PORT: String(port), STORE_URL: 'memory:' }
  const dev = spawn(process.execPath, ['--import=tsx', 'scripts/dev.ts'], { cwd: directory, env })
  const ended = once(dev, 'exit')
  t.teardown(async () => {
    dev.kill()
    await ended
  })
  let output = ''
  dev.stdout.on('data', (text) => {
    output += text
  })
  dev.stderr.on('data', (text) => {
    output += text
  })
  /** Waits for a pattern in the output since the last call; returns that output. */
  const sees = async (pattern: RegExp) => {
    const start = performance.now()
    const seesIt = await holdsWithin(30_000, () => pattern.test(output))
    if (!seesIt) throw new Error(`timed out after 30 s waiting for ${pattern} in: ${output}`)
    const seen = output
    output = ''
    t.comment(`${pattern} after ${Math.round(performance.now() - start)} ms`)
    return seen
  }
  const get = async (target: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${target}`, { headers: { authorization: `Bearer ${token}` } })
    return [answer.status, await answer.text()]
  }
  const edit = (file: string, from: string | RegExp, to: string) => {
    const path = join(directory, file)
    writeFileSync(path, readFileSync(path, 'utf8').replace(from, to))
  }

  await sees(/plant-store 1\.0\.0 on/)
  t.match(await get('/plants'), [405])

  edit('openapi/plant-store.yaml', '  /plants:\n', `  /plants:${operations}`)
  edit('openapi/plant-store.yaml', '\ncomponents:\n', `${path}components:\n`)
  const complaint = await sees(/the last good service goes on/)
  t.match(complaint, /is missing the following properties from type 'Handlers<operations>': listPlants, getPlant/)
  const [, handlers = ''] = /^new, for src\/handlers\.ts:\n\n(.*?\n {2}\},)\n\n(?! {2}async)/ms.exec(complaint) ?? []
  t.match(
    handlers,
    /async listPlants\(\) \{\n {4}return \{ status: 200, body: \[\{ id: 3n, name: 'Monstera deliciosa' \}\] \}/,
  )
  t.match(handlers, /async getPlant\(\) \{\n {4}\/\/ It takes path\['plant-id'\]\.\n/)
  t.match(await get('/plants'), [405], 'the last good service goes on')

  edit('src/handlers.ts', '  async createPlant', `${handlers}\n  async createPlant`)
  await sees(/plant-store 1\.0\.0 on/)
  t.same(await get('/plants'), [200, '[{"id":3,"name":"Monstera deliciosa"}]'])
  t.same(await get('/plants/9223372036854775807'), [200, '{"name":"Monstera deliciosa"}'])
  t.match(await get('/plants/9223372036854775808'), [400, /path\/plant-id must be an int64 integer/])

  edit('openapi/plant-store.yaml', 'format: int64, examples: [1]', 'format: int46, examples: [1]')
  await sees(/an integer says how wide it is/)
  t.match(await get('/plants'), [200])
})
