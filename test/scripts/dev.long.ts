import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { run } from 'fastify-contract-test-support/child-process'
import { freePort } from 'fastify-contract-test-support/free-port'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { useHouseDocument } from '../support/house-document.ts'
import { copyProject } from '../support/project-copy.ts'
import { token } from '../support/test-app.ts'

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

/** The arguments of `npm run dev`. */
const engine = 'packages/fastify-contract/src'
const command = ['dev', '--watch', engine, '--bundle', 'scripts/build/bundle.ts', '--trial', 'STORE_URL=memory:']

/** Starts `npm run dev` in a copy of the project and returns functions to control it. */
async function startDev(t: Test) {
  const directory = copyProject(t)
  await useHouseDocument(directory)
  const port = await freePort()
  const environment = { ACCESS_TOKENS: token, PORT: String(port), STORE_URL: 'sqlite:data/plants.db' }
  const dev = run(t, resolve('packages/fastify-contract-cli/src/cli.ts'), environment, command, directory)
  let seenUntil = { stdout: 0, stderr: 0 }
  const output = () => dev.output.stdout.slice(seenUntil.stdout) + dev.output.stderr.slice(seenUntil.stderr)
  return {
    directory,
    stop: dev.stop,
    /** Waits until the output since the last call matches a pattern, and returns that output. */
    async sees(pattern: RegExp) {
      const start = performance.now()
      await until(
        () => pattern.test(output()),
        () => `${pattern} in: ${output()}`,
        180_000,
      )
      const seen = output()
      seenUntil = { stdout: dev.output.stdout.length, stderr: dev.output.stderr.length }
      t.comment(`${pattern} after ${Math.round(performance.now() - start)} ms`)
      return seen
    },
    async ask(target: string, options: RequestInit = {}) {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' }
      const answer = await fetch(`http://127.0.0.1:${port}${target}`, { headers, ...options })
      return [answer.status, await answer.text()]
    },
    edit(file: string, from: string | RegExp, to: string) {
      const path = join(directory, file)
      const text = readFileSync(path, 'utf8').replace(from, to)
      // Replaces the file atomically, as many editors do.
      writeFileSync(`${path}~`, text)
      renameSync(`${path}~`, path)
    },
  }
}

t.test('the last working service serves until a changed document with its handler replaces it', async (t) => {
  const { directory, sees, ask, edit, stop } = await startDev(t)
  const create = (name: string) => ask('/plants', { method: 'POST', body: JSON.stringify({ id: 1, name }) })
  await sees(/^dev: building the service for http:.*\n/m)
  const waiting = create('first')
  const curl = new RegExp(
    `^curl -X POST 'http://127.0.0.1:\\d+/plants' \\\\\n  -H 'Authorization: Bearer ${token}'`,
    'm',
  )
  t.match(await sees(/^curl (.*\\\n)+.*\n/m), curl)
  t.same(await waiting, [200, '{"name":"first"}'], 'a request waits for the first service')
  t.match(await ask('/plants'), [405])

  const answers = new Set<string>()
  let isAsking = true
  const asking = (async () => {
    while (isAsking) {
      answers.add(String(await create('first').catch((error: Error) => error.cause)))
      await sleep(5)
    }
  })()
  edit('openapi/plant-store.yaml', '  /plants:\n', `  /plants:${operations}`)
  edit('openapi/plant-store.yaml', '\ncomponents:\n', `${path}components:\n`)
  const complaint = await sees(/the last working service keeps running/)
  t.match(complaint, / Properties listPlants, getPlant are missing; type 'Handlers' requires them\./)
  const [, handlers = ''] = /^new, for src\/handlers\.ts:\n\n(.*?\n {2}\},)\n\n(?! {2}\/\/)/ms.exec(complaint) ?? []
  t.match(
    handlers,
    /async listPlants\(\): ReturnType<.*> \{\n {4}\/\/ The example of the document\.\n {4}return \{ status: 200, body: \[\{ id: 3n, name: 'Monstera deliciosa' \}\] \}/,
  )
  t.match(handlers, /\/\/ GET \/plants\/\{plant-id\} takes path\['plant-id'\]\n {2}async getPlant\(/)

  edit('src/handlers.ts', '  async createPlant', `${handlers}\n  async createPlant`)
  edit('src/handlers.ts', /^export/m, "throw new Error('broken at the start')\nexport")
  t.match(await sees(/the last working service keeps running/), /^plant-store: broken at the start$/m)

  edit('openapi/plant-store.yaml', 'format: int64, examples: [1]', 'format: int64, minimum: a, examples: [1]')
  t.match(await sees(/the last working service keeps running/), /minimum: must be a number, not "a"/)
  t.match(await ask('/plants'), [405])

  edit('src/handlers.ts', "throw new Error('broken at the start')\n", '')
  await sleep(700)
  edit('openapi/plant-store.yaml', ', minimum: a', '')
  await sleep(700)
  edit('openapi/plant-store.yaml', '  version: 1.0.0', '  version: 1.0.1')
  await sees(/plant-store 1\.0\.1 on/)
  const tryPage = join(directory, 'dist/docs/try.html')
  await until(() => readFileSync(tryPage, 'utf8').includes('GET /plants/{plant-id}'), 'the form of the new operation')
  t.same(await ask('/plants'), [200, '[{"id":3,"name":"Monstera deliciosa"}]'])
  t.same(await ask('/plants/9223372036854775807'), [200, '{"name":"Monstera deliciosa"}'])
  t.match(await ask('/plants/9223372036854775808'), [400, /path\/plant-id must be an int64 integer/])
  t.match(await create('second'), [409], 'the store keeps the plants')
  edit(`${engine}/http/error-responses.ts`, 'internal error;', 'internal failure;')
  await sees(/plant-store 1\.0\.1 on/)
  isAsking = false
  await asking
  t.same([...answers], ['200,{"name":"first"}'], 'the service rejected no request')
  t.match(await stop('SIGINT'), { code: 0 })
})

t.test('a taken port and the loss of plants in memory are reported', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await new Promise((resolve) => taken.once('listening', resolve))
  const PORT = String((taken.address() as { port: number }).port)
  const { code, stdout, stderr } = await run(
    t,
    'packages/fastify-contract-cli/src/cli.ts',
    { PORT },
    command,
  ).untilEnded()
  t.equal(stdout, 'dev: STORE_URL=memory: loses its data at each restart\n')
  t.same([code, stderr], [1, `dev: PORT is ${PORT}: another process listens on 127.0.0.1:${PORT}; use a free port\n`])
})
