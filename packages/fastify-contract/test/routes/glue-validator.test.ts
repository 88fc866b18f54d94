import t from 'tap'
import { Validator } from '../../src/routes/glue-validator.ts'

t.test('a document is taken without what the resolver of operations overrides', async (t) => {
  const validator = new Validator()
  const post = { operationId: 'createPlant' }
  const document = { paths: { '/plants': { post: { ...post, responses: {} } } }, components: {} }
  t.same(await validator.validate(document), { valid: true })
  t.same(validator.resolveRefs(), { paths: { '/plants': { post } } })
})

t.test('a path is rejected with what to pass instead', async (t) => {
  await t.rejects(new Validator().validate('openapi.json'), /use JSON.parse\(contract.documentText\)/)
})
