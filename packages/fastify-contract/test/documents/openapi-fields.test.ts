import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { compileDocument } from '../../src/compile/compile.ts'
import { isNode, type Node } from '../../src/compile/document/walk-document.ts'
import { bodyValidator } from '../conformance/body-validator.ts'
import { names } from './served-documents.ts'
import { specificationFields } from './specification-fields.ts'

const [, ...sections] = readFileSync('packages/fastify-contract/docs/openapi.md', 'utf8').split('\n## ')
/** Returns the cells of each row of a section's table, without the header row. */
const cellsOf = (section: string): string[][] => {
  const [, ...rows] = Array.from(section.matchAll(/^\| (.*) \|$/gm), ([, row = '']) => row)
  return rows.map((row) => row.split('|').map((cell) => cell.trim()))
}
const tests = cellsOf(sections.find((section) => section.startsWith('Tests\n')) ?? '')

/** The rows of each object's table, by the object's name in lower case. */
const tables = new Map(
  sections.flatMap((section): [string, { field: string; outcome: string; shownBy: string[] }[]][] => {
    const [, object] = /^(.*) Object\n/.exec(section) ?? []
    if (object === undefined) return []
    const rows = cellsOf(section).map(([field = '', _version, outcome = '', shownBy = '']) => ({
      field: field.replaceAll('`', ''),
      outcome: outcome.replace(/\W.*/, ''),
      shownBy: shownBy.split(', '),
    }))
    return [[object.replaceAll(' ', '').toLowerCase(), rows]]
  }),
)

t.test('every field of OpenAPI has one row, and every row is a field', async (t) => {
  const fields = specificationFields()
  const objects = [...tables.keys()].filter((object) => fields.has(object))
  t.same(objects.toSorted(), [...fields.keys()].toSorted(), 'each object has a table')
  for (const [object, rows] of tables) {
    const fixed = rows.map(({ field }) => field).filter((field) => !field.includes('{'))
    t.same(fixed.toSorted(), [...(fields.get(object) ?? [])].toSorted(), object)
    for (const { field, outcome } of rows) t.match(outcome, /^(served|rejected|ignored)$/, `${object} ${field}`)
  }
})

t.test('every row names existing tests', async (t) => {
  const rows = [...tables.values()].flat()
  for (const { field, shownBy } of rows) {
    for (const name of shownBy)
      t.ok(
        tests.some(([known]) => known === name),
        `${field}: ${name}`,
      )
  }
  for (const [name = '', path = '', title = ''] of tests) {
    t.ok(
      rows.some(({ shownBy }) => shownBy.includes(name)),
      `${name} appears in the table of a field`,
    )
    const file = `packages/fastify-contract/${path.replaceAll('`', '')}`
    const [, document] = /^(.*) is served as documented$/.exec(title) ?? []
    if (document !== undefined) t.ok(names.includes(document), title)
    else t.ok(existsSync(file) && readFileSync(file, 'utf8').includes(`'${title}'`), `${file}: ${title}`)
  }
})

t.test('a field that is ignored has no effect on the service', async (t) => {
  const text = readFileSync('packages/fastify-contract/test/documents/ignored-fields.yaml', 'utf8')
  const routesOf = async (document: Node) =>
    (await compileDocument(document as never, 'ignored-fields.yaml')).files['routes.json']
  const verdictsOf = async (document: Node) => {
    const isValid = await bodyValidator(at(document, box))
    return [{}, { name: 'a' }, { name: 1 }, { name: '1' }, []].map((value) => isValid?.(value))
  }
  const routes = await routesOf(parse(text))
  const verdicts = await verdictsOf(parse(text))
  t.same(verdicts, [true, true, false, true, false])
  for (const [object, rows] of tables) {
    for (const { field, outcome } of rows) {
      if (outcome !== 'ignored' || field.includes('{')) continue
      const document: Node = parse(text)
      const holders = (places[object] ?? [])
        .map((place) => at(document, place))
        .filter((node) => Object.hasOwn(node, field))
      t.not(holders.length, 0, `${object} ${field} is in the document`)
      for (const node of holders) delete node[field]
      // The route schemas keep the annotations of schemas, so only the verdicts are compared.
      if (object === 'schema') t.same(await verdictsOf(document), verdicts, `${object} ${field}`)
      else t.equal(await routesOf(document), routes, `${object} ${field}`)
    }
  }
})

t.test('a $ref may point below definitions', async (t) => {
  const isValid = await bodyValidator({ $ref: '#/definitions/Count', definitions: { Count: { type: 'integer' } } })
  t.same([isValid?.(1), isValid?.('1')], [true, false])
})

function at(document: Node, place: string): Node {
  const found = place.split(' ').reduce<unknown>((node, key) => (key === '' ? node : Object(node)[key]), document)
  return isNode(found) ? found : {}
}

const operation = 'paths /boxes post'
const box = 'components schemas Box'
const flows = 'components securitySchemes login flows'

/** The places of each kind of object in the document. */
const places: Record<string, string[]> = {
  openapi: [''],
  info: ['info'],
  contact: ['info contact'],
  license: ['info license'],
  server: ['servers 0'],
  servervariable: ['servers 0 variables version'],
  components: ['components'],
  pathitem: ['paths /boxes'],
  operation: [operation],
  externaldocumentation: ['externalDocs'],
  parameter: [`${operation} parameters 0`, `${operation} parameters 1`],
  requestbody: [`${operation} requestBody`],
  mediatype: [`${operation} requestBody content application/json`],
  encoding: [`${operation} requestBody content application/json encoding name`],
  response: [`${operation} responses 200`],
  example: ['components examples Small'],
  link: ['components links Same'],
  header: [`${operation} responses 200 headers X-Color`],
  tag: ['tags 0'],
  reference: [`${operation} parameters 2`],
  schema: [box, `${box} properties name`],
  xml: [`${box} xml`],
  securityscheme: ['login', 'token', 'provider'].map((name) => `components securitySchemes ${name}`),
  oauthflows: [flows],
  oauthflow: ['implicit', 'password', 'deviceAuthorization'].map((name) => `${flows} ${name}`),
}
