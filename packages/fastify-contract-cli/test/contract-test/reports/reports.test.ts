import t from 'tap'
import { githubReport, withoutCommands } from '../../../src/contract-test/reports/github-report.ts'
import { jsonReport } from '../../../src/contract-test/reports/json-report.ts'
import { junitReport } from '../../../src/contract-test/reports/junit-report.ts'
import { terminalReport } from '../../../src/contract-test/reports/terminal-report.ts'
import { context, failure, hostile, request, resultOf } from './sample-result.ts'

const faultless = resultOf(() => [])
const hostileResult = resultOf((operation) => [
  failure({ ...operation, path: `/${hostile}` }, { expected: hostile, got: hostile, violation: `body ${hostile}` }),
  failure(operation, { check: 'repeated-get', earlier: [request({ body: Buffer.from(hostile) })], repeats: 3 }),
])
const hostileNames = { ...hostileResult, title: hostile, target: hostile }

t.test('the report of a terminal has what a person needs for each failure', async (t) => {
  const lines = terminalReport(
    resultOf((operation) => [failure(operation)]),
    context,
  ).split('\n')
  t.same(lines.slice(0, 6), [
    'createPet: no-server-error (POST /pets, boundary request)',
    '  expected  a status below 500',
    '  got       500 in 2 ms',
    "  repeat    fastify-contract test --seed 7 --operation 'createPet'",
    '  seed      7',
    `curl -i -g --path-as-is -X 'POST' 'http://127.0.0.1:3000/pets?key='"$CONTRACT_TEST_CREDENTIALS"'&a[]=1' \\`,
  ])
  t.same(lines.slice(-6), [
    '',
    'repeated-get is off: it has a clock (getPet)',
    'list is not tested: no credentials',
    'Pets 1.2.0 at the application in this process: 2 of 3 operations, 120 requests, 1.3 s, seed 7',
    '1 failure',
    '',
  ])
})

t.test('the summary says why a run ended, and lists a bounded number of names', async (t) => {
  t.match(terminalReport({ ...faultless, end: 'aborted' }, context), /seed 7; interrupted\nno failures\n$/)
  const [, get, list] = faultless.operations
  const many = Array.from({ length: 30 }, (_, index) => [
    { ...get, operationId: `get${index}`, off: [{ check: `check-${index % 25}`, reason: 'slow' }] },
    { ...list, operationId: `list${index}` },
  ]).flat() as typeof faultless.operations
  const text = terminalReport({ ...faultless, operations: many }, context)
  t.match(text, /^check-0 is off: slow \(get0, get25\)$/m)
  t.match(text, /^5 more checks that are off$/m)
  t.match(text, /^10 more operations that are not tested$/m)
  const off = [{ check: 'a', reason: 'slow' }]
  const all = faultless.operations.map((one) => ({ ...one, off }))
  t.match(terminalReport({ ...faultless, operations: all }, context), /^a is off: slow \(all operations\)$/m)
  const six = many.slice(0, 12).map((one) => (one.requests > 0 ? { ...one, off } : one))
  t.match(terminalReport({ ...faultless, operations: six }, context), /^a is off: slow \(get0, .*, get4 and 1 more\)$/m)
})

t.test('a terminal shows the text of a document and of a server, and does not obey it', async (t) => {
  const text = terminalReport(hostileNames, context)
  t.notMatch(text, /[^\P{C}\n]/u)
  t.notMatch(text, /^\s*::/m, 'no line is a command of GitHub')
  t.match(text, /^ {2}again {5}3 later requests failed in the same way$/m)
  t.match(text, /^after 1 earlier request:\nprintf /m)
  const long = resultOf((operation) => [
    failure(operation, {
      got: 'a'.repeat(5_000),
      request: request({ body: Buffer.alloc(9_000) }),
      response: undefined,
    }),
  ])
  t.match(terminalReport(long, context), /^ {2}got {7}a{1000}…$/m)
  t.match(terminalReport(long, context), /^\(POST with a body of 9000 bytes, which is too long for a command; /m)
})

type XmlElement = { name: string; attributes: Record<string, string>; text: string; children: XmlElement[] }

const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" }
const decoded = (text: string) => text.replace(/&(lt|gt|amp|quot|#39);/g, (_, name) => entities[name] as string)

/** Returns the root of a document of XML 1.0 that has no more than elements, attributes and text; throws otherwise. */
function parseXml(xml: string): XmlElement {
  const [declaration = ''] = /^<\?xml version="1\.0" encoding="UTF-8"\?>\n/.exec(xml) ?? []
  if (declaration === '' || /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(xml))
    throw new Error('no XML')
  const root: XmlElement = { name: '', attributes: {}, text: '', children: [] }
  const open = [root]
  const token =
    /<(\/?)([\w-]+)((?: [\w-]+="(?:[^<&"\t\n\r]|&(?:lt|gt|amp|quot|#39);)*")*)(\/?)>|((?:[^<&>]|&(?:lt|gt|amp|quot|#39);)+)/uy
  token.lastIndex = declaration.length
  while (token.lastIndex < xml.length) {
    const at = token.lastIndex
    const [, end = '', name = '', attributes = '', empty = '', text] = token.exec(xml) ?? []
    if (name === '' && text === undefined) throw new Error(`no XML at ${xml.slice(at, at + 50)}`)
    const parent = open.at(-1) as XmlElement
    if (text !== undefined) parent.text += decoded(text)
    else if (end === '/') {
      if (open.pop()?.name !== name) throw new Error(`</${name}> ends nothing`)
    } else {
      const pairs = Array.from(attributes.matchAll(/ ([\w-]+)="([^"]*)"/g), ([, key, value]) => [
        key,
        decoded(String(value)),
      ])
      const element = { name, attributes: Object.fromEntries(pairs), text: '', children: [] }
      parent.children.push(element)
      if (empty === '') open.push(element)
    }
  }
  const [only, ...others] = root.children
  if (only === undefined || others.length > 0 || open.length > 1) throw new Error('not one root')
  return only
}

/** The elements of the schema of Jenkins that the report has: required and optional attributes, and children. */
const schema: Record<string, [required: string[], optional: string[], children: string[]]> = {
  testsuites: [[], ['name', 'time', 'tests', 'failures', 'errors'], ['testsuite']],
  testsuite: [['name', 'tests', 'failures', 'errors'], ['time', 'skipped', 'package'], ['testcase']],
  testcase: [['name'], ['classname', 'time'], ['skipped', 'failure']],
  failure: [[], ['type', 'message'], []],
  skipped: [[], ['type', 'message'], []],
}

t.test('the JUnit report is XML that the schema of Jenkins allows, whatever texts it has', async (t) => {
  const aborted = { ...hostileNames, operations: hostileNames.operations.map((one) => ({ ...one, untested: hostile })) }
  for (const result of [faultless, hostileNames, aborted]) {
    const root = parseXml(junitReport(result, context))
    t.equal(root.name, 'testsuites')
    t.match(root.attributes.time, /^\d{1,3}\.\d{3}$/)
    assertAllowed(root)
    const suites = root.children
    t.same(
      suites.map(({ attributes }) => attributes.name),
      ['createPet', 'getPet', 'list'],
    )
    for (const { children, attributes } of suites) {
      t.same(
        children.map(({ attributes }) => attributes.name),
        result.checks.map(({ check }) => check),
      )
      const count = (name: string) => children.filter((one) => one.children.some((each) => each.name === name)).length
      t.equal(attributes.failures, String(count('failure')))
      t.equal(attributes.skipped, String(count('skipped')))
    }
  }
  t.throws(() => parseXml('<?xml version="1.0" encoding="UTF-8"?>\n<a>]]></a>'), 'the reader is strict')

  function assertAllowed({ name, attributes, children, text }: XmlElement): void {
    const [required, optional, allowed] = schema[name] ?? [[], [], []]
    for (const key of required) t.ok(Object.hasOwn(attributes, key), `${name} has ${key}`)
    for (const key of Object.keys(attributes)) t.ok([...required, ...optional].includes(key), `${name} may have ${key}`)
    for (const child of children) t.ok(allowed.includes(child.name), `${name} may have ${child.name}`)
    if (name !== 'failure') t.match(text, /^\s*$/)
    children.forEach(assertAllowed)
  }
})

t.test('the JUnit report has the failures with their commands, and why a check was skipped', async (t) => {
  const xml = junitReport(hostileResult, context)
  const [create, get, list] = parseXml(xml).children
  const [first, second] = create?.children ?? []
  t.match(first?.children[0], { name: 'failure', attributes: { type: 'no-server-error' }, text: /curl -i/ })
  t.match(first?.children[0]?.attributes.message, /^expected \\u001b\[31m\]\]>&<a>"%0A/)
  t.match(second?.attributes, { name: 'repeated-get', classname: 'createPet' })
  t.same(get?.children[1]?.children[0]?.attributes, { message: 'it has a clock' })
  t.same(list?.children[0]?.children[0]?.attributes, { message: 'no credentials' })
})

t.test('annotations are at the operation in the document, and each is one line', async (t) => {
  const text = githubReport(hostileResult, context)
  t.match(text, /^::error file=a%2Cb\/openapi.yaml,line=7,col=5,title=createPet%3A no-server-error::expected \\u001b/)
  t.equal(text.match(/^::error /gm)?.length, hostileResult.failures.length)
  t.equal(text.trimEnd().split('\n').length, hostileResult.failures.length)
  t.match(text, ']]>&<a>"%250A ::error::x', 'a percent sign is escaped')
  const elsewhere = { ...context, placeOf: () => undefined }
  t.match(githubReport(hostileResult, elsewhere), /^::error title=createPet%3A no-server-error::expected /)
  t.equal(githubReport(faultless, context), '')
  t.equal(withoutCommands('::error::x\n', 'token'), '::stop-commands::token\n::error::x\n::token::\n')
})

t.test('the JSON report has a version, all members, and bodies that it can hold', async (t) => {
  const report = JSON.parse(jsonReport(hostileResult, context))
  t.same(Object.keys(report).sort(), [
    'checks',
    'documentVersion',
    'end',
    'failures',
    'longestGap',
    'operations',
    'requests',
    'seconds',
    'seed',
    'shrinkRequests',
    'target',
    'title',
    'version',
  ])
  t.match(report, { version: 1, title: 'Pets', documentVersion: '1.2.0', longestGap: null, end: 'complete' })
  t.same(report.operations[0], {
    operationId: 'createPet',
    method: 'POST',
    path: '/pets',
    place: 'a,b/openapi.yaml:7:5',
    requests: 80,
    failures: 2,
    off: [],
    untested: null,
  })
  const [first, second] = report.failures
  t.match(first, {
    check: 'no-server-error',
    operationId: 'createPet',
    place: 'a,b/openapi.yaml:7:5',
    violation: `body ${hostile.toWellFormed()}`,
    seed: 7,
    request: { body: { bytes: 15, text: '{"name":"it\'s"}' }, curl: /^curl / },
    response: {
      status: 500,
      headers: [
        { name: 'via', value: 'a' },
        { name: 'via', value: 'b' },
      ],
      body: { bytes: 1, base64: '/w==', text: null },
    },
  })
  t.match(second.earlier[0].curl, /^printf /)
  const without = { body: undefined, method: 'GET' }
  const large = resultOf((operation) => [
    failure(operation, { request: request({ body: Buffer.alloc(9_000, 'a') }), earlier: [request(without)] }),
    failure(operation, { response: undefined }),
  ])
  const [cut, none] = JSON.parse(jsonReport({ ...large, longestGap: 3 }, context)).failures
  t.match(cut.request, { curl: null, body: { bytes: 9_000, text: 'a'.repeat(4_096) } })
  t.equal(cut.earlier[0].body, null)
  t.equal(none.response, null)
})
