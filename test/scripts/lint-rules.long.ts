import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { houseDocument } from '../support/house-document.ts'
import { copyProject } from '../support/project-copy.ts'

/** Mistakes in the document: the text to replace, its replacement, and the rule that must report it. */
const breaches: [from: string, to: string, rule: string][] = [
  ['              format: int64\n', '', 'house/integer-has-a-format'],
  ['\n          format: int32\n', '\n', 'house/integer-has-a-format'],
  ['              example: Bearer realm="plant-store", error="invalid_token"\n', '', 'house/parameter-has-an-example'],
  ['              example: { error: 40900, message: id 1 belongs to another plant }\n', '', 'rule/body-has-an-example'],
  ['operationId: createPlant', 'operationId: create-plant', 'rule/operation-id-is-an-identifier'],
  ['Create a plant', 'Create A Plant', 'rule/summary-in-sentence-case'],
  ['      tags: [Plants]\n', '', 'rule/operation-has-a-tag'],
  ['        default:\n', '        "500":\n', 'rule/operation-lists-its-errors'],
  ['  /plants:\n', '  /plant:\n', 'house/collection-is-plural'],
  ['  /plants:\n', '  /plants/{id}/photo/{size}:\n', 'house/collection-is-plural'],
]

/** The files of the project's own rules, by the prefix of the rules' names. */
const ownRules = { 'house/': 'scripts/lint/lint-rules.js', 'rule/': 'redocly.yaml' }

type Problem = { ruleId: string; message: string; location: [{ pointer: string }] }
type Report = { totals: object; problems: Problem[] }

/** Copies the project and returns a function that lints a text instead of its document. */
function linter(t: Test): (document: string) => Promise<Report> {
  const cwd = copyProject(t)
  const args = ['node_modules/@redocly/cli/bin/cli.js', 'lint', '--format=json', '--max-problems=1000']
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off' }
  return async (document) => {
    writeFileSync(join(cwd, 'openapi', 'plant-store.yaml'), document)
    const linted = promisify(execFile)(process.execPath, args, { cwd, env })
    return JSON.parse(await linted.then(({ stdout }) => stdout).catch(({ stdout }) => stdout))
  }
}

const text = readFileSync(houseDocument, 'utf8')

t.test('every lint rule reports its breach', async (t) => {
  const lint = linter(t)
  t.same((await lint(text)).totals, { errors: 0, warnings: 0, ignored: 0 })
  for (const [from, to, rule] of breaches) {
    t.ok(text.includes(from), from)
    const { problems } = await lint(text.replace(from, to))
    const found = problems.find(({ ruleId }) => ruleId === rule)
    t.ok(found, `${rule} is among ${problems.map(({ ruleId }) => ruleId)}`)
    const [, file] = Object.entries(ownRules).find(([prefix]) => rule.startsWith(prefix)) ?? []
    if (file !== undefined) t.ok(found?.message.endsWith(` (${file})`), `${rule} names its file: ${found?.message}`)
  }
  const photo = await lint(text.replace('  /plants:\n', '  /plants/{id}/photo:\n'))
  t.notOk(
    photo.problems.find(({ ruleId }) => ruleId === 'house/collection-is-plural'),
    'photo is not a collection',
  )
})

t.test('raw HTML and script links are reported in every text, with the place, the element and a fix', async (t) => {
  const lint = linter(t)
  const document = parse(text)
  const frame = '<iframe srcdoc="<script>1</script>">'
  document.info.title = frame
  document.info.termsOfService = 'javascript:1'
  document.tags[0].description += frame
  document.servers[0].description += frame
  document.externalDocs = { url: 'data:text/html,a', description: frame }
  document['x-error-numbers'].internal.meaning += frame
  const { post } = document.paths['/plants']
  post.summary += frame
  post.parameters = [{ name: 'a', in: 'query', description: frame, schema: { type: 'string' }, example: frame }]
  post.responses['200'].description += frame
  document.components.securitySchemes.bearer.description += frame
  document.components.securitySchemes.oauth = {
    type: 'oauth2',
    description: 'a',
    flows: { clientCredentials: { tokenUrl: 'javascript:1', scopes: { example: frame } } },
  }
  const { name } = document.components.schemas.Plant.properties
  name.description += frame
  name.examples = [frame]
  name.default = frame
  const { problems } = await lint(JSON.stringify(document))
  const reports = problems.filter(({ ruleId }) => ruleId === 'house/text-is-harmless')
  const at = (pattern: RegExp) =>
    new Set(reports.filter(({ message }) => pattern.test(message)).map(({ location }) => location[0].pointer)).values()
  t.same(
    [...at(/^raw HTML <iframe is not allowed; write Markdown, &lt; for <, /)].sort(),
    [
      '#/components/schemas/Plant/properties/name/description',
      '#/components/securitySchemes/bearer/description',
      '#/components/securitySchemes/oauth/flows/clientCredentials/scopes/example',
      '#/externalDocs/description',
      '#/info/title',
      '#/paths/~1plants/post/parameters/0/description',
      '#/paths/~1plants/post/responses/200/description',
      '#/paths/~1plants/post/summary',
      '#/servers/0/description',
      '#/tags/0/description',
      '#/x-error-numbers/internal/meaning',
    ],
    'examples are not checked',
  )
  t.same(
    [...at(/^a link to (javascript|data):\S+ is not allowed; use https:, /)].sort(),
    [
      '#/components/securitySchemes/oauth/flows/clientCredentials/tokenUrl',
      '#/externalDocs/url',
      '#/info/termsOfService',
    ],
    'links with another scheme',
  )
})
