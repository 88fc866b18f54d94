import t from 'tap'
import { redocly } from '../../src/compile/redocly.ts'

t.test('linter messages contain no notice about the Node version', async (t) => {
  await t.rejects(redocly('bundle', 'missing.yaml'), { message: /^(?!.*[╔║╚]).*missing\.yaml/s })
})
