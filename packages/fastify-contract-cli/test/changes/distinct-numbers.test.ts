import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseExactJson } from 'fastify-contract/json'
import t from 'tap'
import { contractChanges } from '../../src/changes/contract-changes.ts'
import type { Document } from '../../src/document/openapi-document.ts'

const documentOf = (limits: string) => `{ "openapi": "3.1.0", "info": { "title": "a", "version": "1.0.0" }, "paths": {
  "/a": { "post": { "operationId": "a", "responses": { "204": { "description": "Done" } }, "requestBody": { "content": {
    "application/json": { "schema": { "type": "integer", "format": "int64", ${limits} } } } } } } } }`

/** Limits of an integer, with the weights and the messages of the changes from the first to the second ones. */
const cases: [older: string, newer: string, changes: RegExp[]][] = [
  ['"maximum": 9223372036854775807', '"maximum": 9223372036854775807', []],
  [
    '"maximum": 9223372036854775807',
    '"maximum": 9223372036854775806',
    [/^breaking .*'<= 9223372036854775807' to '<= 9223372036854775806'/],
  ],
  ['"maximum": 9223372036854775806', '"maximum": 9223372036854775807', [/^compatible .*\/maximum/]],
  [
    '"minimum": -9223372036854775808, "maximum": 9007199254740993',
    '"minimum": -9223372036854775807, "maximum": 9007199254740994',
    [/^breaking .*'>= -9223372036854775808' to '>= -9223372036854775807'/, /^compatible .*\/maximum/],
  ],
  ['"maximum": 9007199254740991', '"maximum": 9007199254740993', [/^compatible .*\/maximum/]],
]

t.test('limits beyond 2^53 are compared to the last digit', async (t) => {
  const directory = t.testdir({})
  for (const [index, [older, newer, expected]] of cases.entries()) {
    const [from, to] = [join(directory, `${index}-older.json`), join(directory, `${index}-newer.json`)]
    writeFileSync(from, documentOf(older))
    writeFileSync(to, documentOf(newer))
    const changes = await contractChanges(from, to, parseExactJson(documentOf(newer)) as Document)
    const lines = changes.map(({ weight, what }) => `${weight} ${what}`)
    t.equal(lines.length, expected.length, lines.join('\n'))
    for (const [at, pattern] of expected.entries()) t.match(lines[at], pattern)
  }
})
