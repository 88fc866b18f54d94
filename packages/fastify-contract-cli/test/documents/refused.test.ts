import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import type { Document } from '../../src/document/openapi-document.ts'
import { compileContract, compileDocument } from '../../src/emit/compile.ts'
import { readSources } from '../../src/read/source-files.ts'
import { ownPath } from '../support/own-path.ts'
import { refusalLines } from '../support/refusal.ts'

/** Returns the lines of the message that rejects a document, which the test of documents lints together with others. */
async function refusalOf(path: string): Promise<string[]> {
  const [source] = (await readSources(path)).files.values()
  const { message } = await compileDocument(source?.value as Document, path, {}).then(
    () => new Error('taken'),
    (error: Error) => error,
  )
  return refusalLines({ message })
}

const useContent = 'describe it by content with application/json'
const useNames = `use style deepObject, or ${useContent}`

/** The expected problems of parameters with an impossible style. Each begins with the index of its parameter. */
const styles = [
  '0: parameter pair: style label would split a number at its decimal point; use explode: false',
  '0: parameter pair: is split into several values, so it must be the only parameter in its path segment, at its end; put a / before and after it',
  `4: parameter lists: its style cannot write an array of objects or arrays; ${useNames}`,
  `5: parameter either: may be an object or another type, which its style cannot distinguish; ${useNames}`,
  `6: parameter nested: [size] has several types that a string cannot distinguish; ${useContent}`,
  `6: parameter nested: property a[b] contains a bracket, which ends a name; ${useContent}`,
  `7: parameter unclear: property size has several types that no style can distinguish; ${useContent}`,
  '8: parameter range: its property high has the same name as security scheme key; rename one of them, or use explode: false',
  '11: parameter all: its additionalProperties accept every name in the cookie, including that of parameter one; list its properties by name only, or use explode: false',
  '12: parameter one: its additionalProperties accept every name in the cookie, including that of parameter all; list its properties by name only, or use explode: false',
  '13: parameter both: has both schema and content; remove one of them',
  '14: parameter several: its content has 2 media types; use exactly one',
  '15: parameter number: text/plain is read as a string, which its schema does not allow; use application/json',
  '16: parameter latin: text/plain;charset=latin1 is not supported in a parameter; use application/json or text/plain',
]

t.test('unsupported documents are rejected with location and fix', async (t) => {
  const document = ownPath('test/documents/refused.yaml')
  const search = '#/paths/~1search~1%7Bmatrix%7D/get'
  t.same(await refusalOf(document), [
    `${document} cannot be served as written:`,
    '#/components/schemas/Anchored/%24anchor: is not supported; refer to the schema by its JSON pointer, with $ref',
    '#/components/schemas/Named/%24id: is not supported; refer to the schema by its JSON pointer, with $ref',
    '#/components/schemas/Pattern/pattern: ( is not a regular expression of ECMA-262; correct it',
    '#/components/schemas/Patterns/patternProperties: [ is not a regular expression of ECMA-262; correct it',
    '#/components/schemas/Rounded/const: an integer beyond 2^53 - 1 would be rounded; use the type integer with the format int64 or uint64, or state it in the description',
    '#/components/schemas/Unlike/oneOf: key is writeOnly in one alternative and not in another, so a response could expose it; describe it the same way in each',
    '#/paths/~1files~1*: /files/* contains *, which is not supported in a path; remove it',
    '#/paths/~1items~1%7Bid%7D%3Aarchive/parameters/0: parameter id: is split into several values, so it must be the only parameter in its path segment, at its end; put a / before and after it',
    '#/paths/~1pairs~1%7Bid%7D~1%7Bid%7D: {id} occurs twice; use each path parameter once',
    '#/paths/~1relative: the path of a server has the undescribed variable {stage}; describe it in variables',
    `${search}/parameters/2: parameter point: application/octet-stream is not supported in a parameter; use application/json or text/plain`,
    `${search}/responses/default/content: application/json;charset=utf-16 has a charset that cannot be written; use utf-8`,
    ...styles.map((line) => `#/paths/~1styles~1%7Bpair%7D.json/get/parameters/${line}`),
    '#/paths/~1traced/trace: TRACE is not supported; remove the operation',
    '#/paths/~1upload/post/requestBody/content: application/json;charset=utf-16 has a charset that cannot be read; use utf-8',
  ])
})

t.test('a mistake is reported with its line', async (t) => {
  const valid = readFileSync(ownPath('test/documents/formats/openapi.yaml'), 'utf8')
  const mistakes: [mistake: string, text: string, RegExp][] = [
    [
      'a $ref to nothing',
      valid.replace('schemas/Values', 'schemas/None'),
      /schema: #\/components\/schemas\/None does not resolve; correct the reference \(openapi\.yaml:\d+:48\)\n1 problem affects/,
    ],
    [
      'another version',
      JSON.stringify({ openapi: '2.0', info: { title: 'Version', version: '1' }, paths: {} }),
      /#\/openapi: 2\.0 is not supported; use 3\.0, 3\.1 or 3\.2 \(openapi\.json:1:12\)/,
    ],
  ]
  // Outside of this repository, which has a configuration, no bundler runs for a document of one JSON file.
  const before = process.cwd()
  t.teardown(() => process.chdir(before))
  process.chdir(t.testdir())
  for (const [mistake, text, expected] of mistakes) {
    const path = text.startsWith('{') ? 'openapi.json' : 'openapi.yaml'
    writeFileSync(path, text)
    await t.rejects(compileContract(path), { message: expected }, mistake)
  }
  writeFileSync('openapi.yaml', valid.replace('maxLength: 9', 'maxlength: 9'))
  t.match(
    (await compileContract('openapi.yaml')).warnings[0],
    /\/name\/maxlength: maxlength is not a field of a schema; read as maxLength; correct it \(openapi\.yaml:\d+:59\)$/,
  )
})

t.test('unsupported features of OpenAPI 3.2 are rejected with location and fix', async (t) => {
  const document = ownPath('test/documents/refused-3-2.yaml')
  t.same(await refusalOf(document), [
    `${document} cannot be served as written:`,
    '#/components/schemas/Pet/discriminator/defaultMapping: must refer to an alternative in the oneOf or anyOf of the same schema, or without those to a schema that inherits from it; correct it',
    '#/paths/~1methods/additionalOperations/CONNECT: CONNECT is not a supported method; use another one, such as POST',
    '#/paths/~1methods/additionalOperations/copy: copy is not a supported method; methods are case-sensitive: write COPY',
    '#/paths/~1methods/additionalOperations/post: is a method of OpenAPI itself; write it as post, beside additionalOperations',
    '#/paths/~1methods/query: QUERY needs a body in each request (RFC 10008 section 2); add a required requestBody',
    ...[
      '0: parameter all: is the whole query string, so parameter form cannot be beside it; remove one of them',
      '0: parameter all: is the whole query string, so parameter schema cannot be beside it; remove one of them',
      '0: parameter all: text/csv is not supported for a query string; use application/x-www-form-urlencoded or application/json',
      '1: parameter form: is the whole query string, so parameter all cannot be beside it; remove one of them',
      '1: parameter form: is the whole query string, so parameter schema cannot be beside it; remove one of them',
      '2: parameter schema: is the whole query string; describe it by content with exactly one media type',
    ].map((line) => `#/paths/~1search/get/parameters/${line}`),
  ])
})
