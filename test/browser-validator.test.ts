import { runInNewContext } from 'node:vm'
import { build } from 'esbuild'
import t from 'tap'
import { contract } from '../generated/contract.mjs'

t.test('the validator runs in a browser, without modules of Node.js', async (t) => {
  const contents = "export { createValidator } from 'fastify-contract/validator'"
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: '.' },
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'validator',
    minify: true,
    write: false,
  })
  const [{ text = '' } = {}] = outputFiles
  t.ok(text.length < 300_000, `the bundle has ${text.length} bytes`)
  // A context has the objects of ECMAScript only.
  const outcomes = runInNewContext(
    `${text}
    const { validate } = validator.createValidator(schemas).standard({ $ref: 'NewPlant#' })['~standard']
    const { value } = validate({ id: 7, name: 'Monstera' })
    ;[typeof value.id, JSON.stringify(validate({ id: 7.5 }).issues)]`,
    { schemas: contract.routes.schemas },
  )
  t.same(outcomes[0], 'bigint')
  t.same(JSON.parse(outcomes[1]), [
    { message: "must have required property 'name'", path: ['name'] },
    { message: 'must be an int64 integer', path: ['id'] },
  ])
})
