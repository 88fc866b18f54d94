import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { copyProject } from '../support/copy.ts'

/** Breaches: the text to replace, its replacement, and the rule that must report it. */
const breaches: [from: string, to: string, rule: string][] = [
  ['              format: int64\n', '', 'house/integer-has-a-format'],
  ['\n          format: int32\n', '\n', 'house/integer-has-a-format'],
  ['              example: Bearer realm="plant-store", error="invalid_token"\n', '', 'house/parameter-has-an-example'],
  ['          examples:\n            - indoor\n', '', 'scalar-property-missing-example'],
  [
    '              example:\n                error: 40900\n                message: id 1 belongs to another plant\n',
    '',
    'rule/body-has-an-example',
  ],
  ['operationId: createPlant', 'operationId: create-plant', 'rule/operation-id-is-an-identifier'],
  ['      operationId: createPlant\n', '', 'operation-operationId'],
  ['Create a plant', 'Create A Plant', 'rule/summary-in-sentence-case'],
  ['      summary: Create a plant\n', '', 'operation-summary'],
  ['      tags:\n        - Plants\n', '', 'rule/operation-has-a-tag'],
  ['    description: The plants of the store.\n', '', 'tag-description'],
  ['        default:\n', '        "500":\n', 'rule/operation-lists-its-errors'],
  ['security:\n  - bearer: []\n', '', 'security-defined'],
]

t.test('every lint rule reports its breach', async (t) => {
  const cwd = copyProject(t)
  const text = readFileSync('openapi/plant-store.yaml', 'utf8')
  const lint = async () => {
    const args = ['node_modules/@redocly/cli/bin/cli.js', 'lint', '--format=json']
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off' }
    return await promisify(execFile)(process.execPath, args, { cwd, env }).then(
      ({ stdout }) => stdout,
      ({ stdout }) => stdout,
    )
  }
  t.same(JSON.parse(await lint()).totals, { errors: 0, warnings: 0, ignored: 0 })
  for (const [from, to, rule] of breaches) {
    t.ok(text.includes(from), from)
    writeFileSync(join(cwd, 'openapi', 'plant-store.yaml'), text.replace(from, to))
    const found = JSON.parse(await lint()).problems.map(({ ruleId }: { ruleId: string }) => ruleId)
    t.ok(found.includes(rule), `${rule} is among ${found}`)
  }
})
