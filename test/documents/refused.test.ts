import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { contractFiles } from '../../scripts/generate/contract-files.ts'

const rules = 'test/documents/redocly.yaml'

const useContent = 'describe it by content with application/json'

/** The problems of parameters whose style is impossible, each after the index of its parameter. */
const styles = [
  '0: parameter pair: a number would end at its point in style label; use explode: false',
  '0: parameter pair: is split, so it must end its segment of the path, and be the only one there; put a / before and behind it',
  '1: parameter closed: style deepObject is always exploded; leave explode out',
  '2: parameter spaced: style spaceDelimited is of lists and objects; use form',
  '3: parameter piped: style pipeDelimited is not exploded; leave explode out, or use form',
  `4: parameter lists: a list of objects or lists has no style; ${useContent}`,
  `5: parameter either: is an object or another type, which no style tells apart; ${useContent}`,
  `6: parameter nested: property range is an object or a list, which has no style; ${useContent}`,
  '6: parameter nested: property a[b] has a bracket, which ends a name in deepObject; rename it',
  `7: parameter unclear: property size has several types that no style tells apart; ${useContent}`,
  "9: parameter low: an empty value is no integer; add the type 'null', or leave allowEmptyValue out",
  '13: parameter both: has a schema and content; leave one out',
  '14: parameter several: its content must have one media type; leave the others out',
  '15: parameter number: text/plain gives a string, which its schema does not allow; use application/json',
  '16: parameter latin: text/plain;charset=latin1 is not read in a parameter; use application/json or text/plain',
  '6: parameter nested: nested[high] would be a property of it and parameter nested[high]; rename one of them',
  '8: parameter range: its property low has the name of parameter low; rename one of them, or use explode: false',
  '8: parameter range: its property high has the name of security scheme key; rename one of them, or use explode: false',
  '11: parameter all: its additionalProperties take each name in cookie, also that of parameter one; name its properties alone, or use explode: false',
]

t.test('unsupported documents are rejected with location and remedy', async (t) => {
  const document = 'test/documents/refused.yaml'
  const { message } = await contractFiles(document, rules).then(
    () => new Error('taken'),
    (error: Error) => error,
  )
  const search = '#/paths/~1search~1%7Bmatrix%7D/get'
  t.same(message.split('\n  '), [
    `${document} cannot be served as it says:`,
    '#/components/schemas/Rounded/maximum: an integer beyond 2^53 - 1 would be rounded; leave it out (int64 implies its own limits) or say it in the description',
    '#/paths/~1traced/trace: TRACE is not served; leave the operation out',
    '#/paths/~1relative: its server must have a URL with //, or one that begins with /',
    '#/paths/~1files~1*: /files/* has one of * ? # % {, which a path cannot have',
    '#/paths/~1pairs~1%7Bid%7D~1%7Bid%7D: {id} is there twice; name each parameter of a path once',
    '#/paths/~1items~1%7Bid%7D%3Aarchive: a path parameter must end before /, . or -, or with the path',
    '#/paths/~1items~1%7Bid%7D%3Aarchive/parameters/0: parameter id: is split, so it must end its segment of the path, and be the only one there; put a / before and behind it',
    `${search}: a body of GET is not read; use parameters or POST`,
    `${search}/parameters/0: parameter filter: style deepObject is of objects; use form`,
    `${search}/parameters/1: parameter matrix: style form is not read in path; use simple or label or matrix`,
    `${search}/parameters/2: parameter point: application/octet-stream is not read in a parameter; use application/json or text/plain`,
    `${search}/responses/200/content: text/* cannot be negotiated beside others; name each media type`,
    `${search}/responses/default/content: text/plain;charset=latin1 has a charset that is not written; use utf-8`,
    `${search}/responses/default/content: plain is no media type; use one such as text/plain`,
    `${search}/responses/default/headers/X-A: header X-A: is described by a schema, not by content`,
    ...styles.map((line) => `#/paths/~1styles~1%7Bpair%7D.json/get/parameters/${line}`),
    '#/paths/~1upload/post/requestBody/content/multipart~1form-data/schema: names no property, so that a handler would get nothing; name each part',
    '#/paths/~1upload/post/requestBody/content: application/* does not say how its schema is read; name each media type, such as application/json',
    '#/components/schemas/Named/%24id: is not read; refer to a schema by its place, with $ref',
    '#/components/schemas/Anchored/%24anchor: is not read; refer to a schema by its place, with $ref',
    '#/components/schemas/Pattern/pattern: ( is no regular expression of ECMA-262 with the flag u',
    '#/components/schemas/Patterns/pattern: [ is no regular expression of ECMA-262 with the flag u',
    '#/components/schemas/Nowhere/properties/id: is readOnly and writeOnly, so that it is nowhere; take one of them off',
    '#/components/schemas/Unlike/oneOf: key is writeOnly in one alternative and not in another, so that a reply could show what must not leave; describe it alike in each',
  ])
})

t.test('invalid documents are rejected with their line', async (t) => {
  const valid = readFileSync('test/documents/formats/openapi.yaml', 'utf8')
  const mistakes: [mistake: string, text: string, RegExp][] = [
    [
      'a misspelt keyword',
      valid.replace('maxLength: 9', 'maxlength: 9'),
      /\d+:\d+ +error +struct +Property `maxlength` is not expected here/,
    ],
    [
      'what 3.1 has no more',
      valid.replace('format: uuid', 'format: uuid, nullable: true'),
      /`nullable` is not expected here/,
    ],
    ['a $ref to nothing', valid.replace('schemas/Values', 'schemas/None'), /no-unresolved-refs +Can't resolve \$ref/],
    ['another version', valid.replace('3.1.1', '2.0'), /Invalid OpenAPI version/],
  ]
  for (const [mistake, text, expected] of mistakes) {
    const path = join(t.testdir(), 'openapi.yaml')
    writeFileSync(path, text)
    await t.rejects(contractFiles(path, rules), { message: expected }, mistake)
  }
})
