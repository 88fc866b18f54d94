import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { copyProject } from '../support/copy.ts'

const operation = `
    get:
      operationId: countPlants
      summary: Count the plants
      description: Counts the plants of the store.
      tags: [Plants]
      responses:
        '200':
          description: How many plants the store has.
          content:
            application/json:
              schema: { type: integer, format: int64, examples: [3] }
              example: 3
        '400': &error
          description: Unexpected error.
          content: { application/json: { schema: { $ref: '#/components/schemas/Error' }, example: { error: 40000, message: no } } }
        '401': *error
        default: *error
`

t.test('the loop of a change: the document, the complaint of the compiler, the handler, the answer', async (t) => {
  const directory = copyProject(t)
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const port = (probe.address() as AddressInfo).port
  probe.close()
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
  /** Waits until the output since the last call has what is looked for. */
  const sees = async (pattern: RegExp) => {
    const start = performance.now()
    while (!pattern.test(output)) {
      if (performance.now() - start > 30_000) throw new Error(`no ${pattern} in: ${output}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const seen = output
    output = ''
    t.comment(`${pattern} after ${Math.round(performance.now() - start)} ms`)
    return seen
  }
  const count = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/plants`, { headers: { authorization: `Bearer ${token}` } })
    return [answer.status, await answer.text()]
  }
  const edit = (file: string, from: string | RegExp, to: string) => {
    const path = join(directory, file)
    writeFileSync(path, readFileSync(path, 'utf8').replace(from, to))
  }

  await sees(/plant-store 1\.0\.0 on/)
  t.match(await count(), [405])

  edit('openapi/plant-store.yaml', '  /plants:\n', `  /plants:${operation}`)
  const complaint = await sees(/the last good service goes on/)
  t.match(complaint, /Property 'countPlants' is missing/)
  const [handler = ''] = /^ {2}async countPlants\(\) \{\n.*? {2}\},\n/ms.exec(complaint) ?? []
  t.match(handler, /return \{ status: 200, body: 3n \}/)
  t.match(await count(), [405], 'the last good service goes on')

  edit('src/handlers.ts', '  async createPlant', `${handler}  async createPlant`)
  await sees(/plant-store 1\.0\.0 on/)
  t.same(await count(), [200, '3'])

  edit('openapi/plant-store.yaml', 'format: int64, examples: [3]', 'format: int46, examples: [3]')
  await sees(/an integer says how wide it is/)
  t.same(await count(), [200, '3'])
})
