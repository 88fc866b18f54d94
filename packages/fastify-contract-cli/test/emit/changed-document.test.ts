import { parseExactJson, stringifyJson } from 'fastify-contract/json'
import { random as fractions } from 'fastify-contract-test-support/fixed-seed'
import t from 'tap'
import { type Document, endpoints } from '../../src/document/openapi-document.ts'
import { isNode, type Kind, type Node, walk } from '../../src/document/walk-document.ts'
import { changedDocument } from '../../src/emit/changed-document.ts'
import { documentBefore } from '../../src/emit/generated-files.ts'
import { handlerChanges } from '../../src/emit/handler-changes.ts'
import { lenientDocument } from '../../src/passes/lenient/lenient-document.ts'
import { asPublished, normalizedDocument } from '../../src/passes/normalize.ts'
import { exampleDocuments } from '../conformance/example-documents.ts'

const textOf = (document: object): string => `${stringifyJson(document, '  ')}\n`
const parsed = (text: string): Document => parseExactJson(text) as Document
const unbounded = () => ({ left: Number.POSITIVE_INFINITY })

/** What is printed for two documents: the changes, and the operations that get a handler. */
type Printed = { changes: string[]; added: string[] }

function printedFor(before: Document, compared: Document, after: Document): Printed {
  const known = new Set(endpoints(before).map(({ operationId }) => operationId))
  const ids = endpoints(after).map(({ operationId }) => operationId)
  return { changes: handlerChanges(compared, after, unbounded()), added: ids.filter((id) => !known.has(id)) }
}

/** Normalizes both documents as a whole. */
function printedByWhole(oldText: string, newText: string): Printed {
  const before = normalizedDocument(parsed(oldText))
  return printedFor(before, before, normalizedDocument(parsed(newText)))
}

function printedByParts(oldText: string, newText: string): Printed {
  const after = normalizedDocument(parsed(newText))
  const { document, changed } = documentBefore(oldText, newText, after)
  return printedFor(document, changed, after)
}

/** Returns a generator of integers below a limit; the same seed gives the same integers. */
function integers(seed: number): (limit: number) => number {
  const next = fractions(seed)
  return (limit) => Math.floor(next() * limit)
}

type Random = ReturnType<typeof integers>

const oneOf = <Item>(random: Random, items: Item[]): Item | undefined => items[random(items.length)]

function nodesOf(document: Document, kinds: Kind[]): Node[] {
  const found: Node[] = []
  walk(document as Node, 'document', '#', (node, kind) => {
    if (kinds.includes(kind)) found.push(node)
  })
  return found
}

const methodsOf = (item: Node): string[] =>
  ['get', 'put', 'post', 'delete', 'patch'].filter((name) => isNode(item[name]))

type Edit = (document: Document & Node, random: Random, number: number) => void

const withNode =
  (kind: Kind, edit: (node: Node, random: Random, number: number, document: Document & Node) => void): Edit =>
  (document, random, number) => {
    const node = oneOf(random, nodesOf(document, [kind]))
    if (node !== undefined && node.$ref === undefined) edit(node, random, number, document)
  }

const schemasOf = (document: Node): Node => memberOf(memberOf(document, 'components'), 'schemas')

/** Returns a member of an object, which is an empty object if it was missing. */
function memberOf(holder: Node, name: string): Node {
  holder[name] ??= {}
  return holder[name] as Node
}

const ofPaths =
  (edit: (paths: Record<string, Node>, path: string, random: Random, number: number) => void): Edit =>
  (document, random, number) => {
    const paths = (document.paths ?? {}) as Record<string, Node>
    const path = oneOf(random, Object.keys(paths))
    const isReferenced = JSON.stringify(document).includes('"#/paths/')
    if (path !== undefined && !isReferenced) edit(paths, path, random, number)
  }

/** Random edits of a document. Each leaves its references with targets. */
const edits: Record<string, Edit> = {
  type: withNode('schema', (node, random) => {
    if (typeof node.type === 'string' && node.type !== 'object' && node.type !== 'array')
      node.type = oneOf(random, ['string', 'integer', 'number', 'boolean'])
  }),
  int64: withNode('schema', (node) => {
    if (node.type === 'integer' || node.type === 'number') Object.assign(node, { type: 'integer', format: 'int64' })
  }),
  limit: withNode('schema', (node, random) => {
    if (node.type === 'string') node.maxLength = random(100)
  }),
  property: withNode('schema', (node, _random, number) => {
    if (isNode(node.properties)) node.properties[`added${number}`] = { type: 'integer' }
  }),
  'removed property': withNode('schema', (node, random) => {
    const name = oneOf(random, Object.keys(Object(node.properties)))
    if (name !== undefined && Object.keys(Object(node.properties)).length > 1) delete (node.properties as Node)[name]
  }),
  direction: withNode('schema', (node, random) => {
    const property = oneOf(random, Object.values(Object(node.properties)))
    const mark = oneOf(random, ['readOnly', 'writeOnly']) as string
    if (isNode(property) && property.$ref === undefined) property[mark] = true
  }),
  reference: withNode('schema', (node, random, number, document) => {
    const name = oneOf(random, Object.keys(schemasOf(document)))
    if (isNode(node.properties) && name !== undefined)
      node.properties[`other${number}`] = { $ref: `#/components/schemas/${name}` }
  }),
  heir: (document, random, number) => {
    const schemas = schemasOf(document)
    const name = oneOf(random, Object.keys(schemas))
    const parent =
      oneOf(
        random,
        Object.keys(schemas).filter((one) => Object(schemas[one]).discriminator),
      ) ?? name
    schemas[`Heir${number}`] = {
      allOf: [{ $ref: `#/components/schemas/${parent}` }, { type: 'object', properties: { heir: { type: 'string' } } }],
    }
  },
  mapping: withNode('schema', (node, random, number) => {
    const { mapping } = Object(node.discriminator) as { mapping?: Node }
    const target = oneOf(random, Object.values(mapping ?? {}))
    if (mapping !== undefined) mapping[`kind${number}`] = target
    else if (isNode(node.properties)) node.discriminator = { propertyName: Object.keys(node.properties)[0] }
  }),
  union: withNode('schema', (node, _random, number) => {
    if (isNode(node.properties))
      node.properties[`mixed${number}`] = { anyOf: [{ type: 'integer', format: 'int64' }, { type: 'number' }] }
  }),
  parameter: withNode('operation', (node, random, number) => {
    const schema = { type: oneOf(random, ['string', 'integer']) }
    node.parameters = [...((node.parameters ?? []) as Node[]), { in: 'query', name: `added${number}`, schema }]
  }),
  'parameter of a path': withNode('pathItem', (node, _random, number) => {
    const parameter = { in: 'header', name: `x-${number}`, required: true, schema: { type: 'string' } }
    node.parameters = [...((node.parameters ?? []) as Node[]), parameter]
  }),
  'required parameter': withNode('parameter', (node) => {
    if (node.in !== 'path') node.required = node.required !== true
  }),
  response: withNode('operation', (node, random) => {
    const responses = memberOf(node, 'responses')
    const status = oneOf(random, Object.keys(responses))
    if (status !== undefined && random(2) === 0) delete responses[status]
    else responses[418] = { description: 'new' }
  }),
  operationId: withNode('operation', (node, _random, number) => {
    node.operationId = `renamed${number}`
  }),
  'derived operationId': withNode('operation', (node) => {
    delete node.operationId
  }),
  'operation removed': ofPaths((paths, path, random) => {
    const method = oneOf(random, methodsOf(paths[path] as Node))
    if (method !== undefined) delete (paths[path] as Node)[method]
  }),
  'path moved': ofPaths((paths, path, _random, number) => {
    const { [path]: item = {} } = paths
    if (path.includes('{')) return
    delete paths[path]
    paths[`${path}/moved-${number}`] = item
  }),
  'path that derives the same operationId': ofPaths((paths, path, _random, number) => {
    const last = path.lastIndexOf('/')
    if (last <= 0 || path.includes('{')) return
    const responses = { 200: { description: `${number}` } }
    paths[`${path.slice(0, last)}-${path.slice(last + 1)}`] = { get: { responses } }
  }),
  'path removed': ofPaths((paths, path) => {
    delete paths[path]
  }),
  'path of another': ofPaths((paths, path, _random, number) => {
    if (!path.includes('{')) paths[`/other${number}`] = { $ref: `#/paths/${path.replaceAll('/', '~1')}` }
  }),
  security: (document) => Object.assign(document, { security: [] }),
  servers: (document, _random, number) => Object.assign(document, { servers: [{ url: `/v${number}` }] }),
  info: (document, _random, number) => Object.assign(document.info, { version: `${number}.0.0` }),
  webhook: (document, random, number) => {
    const name = oneOf(random, Object.keys(schemasOf(document)))
    if (name === undefined) return
    const schema = { anyOf: [{ $ref: `#/components/schemas/${name}` }, { type: 'integer', format: 'int64' }] }
    const requestBody = { content: { 'application/json': { schema } } }
    const post = { requestBody, responses: { 204: { description: '' } } }
    document.webhooks = { ...Object(document.webhooks), [`event${number}`]: { post } }
  },
  version: (document, random, number) => {
    if (number % 10 === 0) document.openapi = oneOf(random, ['3.0.3', '3.1.0']) as string
  },
}

/** Returns the texts of a document before and after random edits. */
function edited(text: string, random: Random, number: number): { text: string; names: string[] } {
  const document = parsed(text) as Document & Node
  const names: string[] = []
  for (let count = 1 + random(3); count > 0; count--) {
    const name = oneOf(random, Object.keys(edits)) as string
    names.push(name)
    edits[name]?.(document, random, number)
  }
  return { text: textOf(asPublished(document)), names }
}

const operationOf = (operationId: string, schema: string) => ({
  get: {
    operationId,
    responses: { 200: { content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } } },
  },
})

const shop = (id: object) => ({
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  paths: { '/pets': operationOf('getPet', 'Pet'), '/orders': operationOf('getOrder', 'Order') },
  components: {
    schemas: { Pet: { properties: { id: { $ref: '#/components/schemas/Id' } } }, Order: { type: 'object' }, Id: id },
  },
})

t.test('of an operation that depends on no changed component, only the operationId is read', async (t) => {
  const now = textOf(shop({ type: 'string' }))
  const old = shop({ type: 'integer' })
  const { document, isComplete } = changedDocument(textOf(old), now)
  t.same(document.paths, { '/pets': old.paths['/pets'], '/orders': { get: { operationId: 'getOrder' } } })
  t.same(Object.keys(Object(document.components).schemas), ['Pet', 'Id'])
  t.same([isComplete('/pets'), isComplete('/orders')], [true, false])
  t.same(changedDocument(JSON.stringify(old), now).document, document, 'the format of the text does not matter')
  t.throws(() => changedDocument('{', now), SyntaxError)
})

t.test('an integer that a changed part makes exact in an operation that stays is printed', async (t) => {
  const old = textOf(shop({ type: 'integer' }))
  const mixed = { anyOf: [{ $ref: '#/components/schemas/Id' }, { type: 'integer', format: 'int64' }] }
  const request = { requestBody: { content: { 'application/json': { schema: mixed } } }, responses: { 204: {} } }
  const given = shop({ type: 'integer' })
  const now = textOf({ ...given, paths: { ...given.paths, '/ids': { post: request } } })
  t.same(printedByParts(old, now), printedByWhole(old, now))
  t.same(printedByParts(old, now).changes, ['getPet returns body.id for 200 as integer (int64), before as integer'])
})

const rounds = Number(process.env.PROPERTY_RUNS ?? 2)

for (const [index, [name, given]] of exampleDocuments().entries()) {
  if (given.openapi === undefined) continue
  t.test(`edits of ${name}: the same is printed as for a comparison of the whole documents`, async (t) => {
    const random = integers(index + 1)
    const original = textOf(asPublished(lenientDocument(given).mended))
    for (let round = 0; round < rounds; round++) {
      const old = edited(original, random, round * 2)
      const now = edited(old.text, random, round * 2 + 1)
      t.same(printedByParts(old.text, now.text), printedByWhole(old.text, now.text), now.names.join())
      t.same(printedByParts(now.text, old.text), printedByWhole(now.text, old.text), `not ${now.names.join()}`)
    }
  })
}
