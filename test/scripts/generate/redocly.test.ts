import t from 'tap'
import { redocly } from '../../../scripts/generate/redocly.ts'

t.test('a complaint of the linter has no notice about the version of Node', async (t) => {
  await t.rejects(redocly('bundle', 'missing.yaml'), { message: /^(?!.*[╔║╚]).*missing\.yaml/s })
})
