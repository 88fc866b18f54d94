import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Schema } from 'fastify-contract/contract'
import type { Node } from '../../src/document/walk-document.ts'

/** A schema of the JSON Schema Test Suite with values that are valid or invalid. */
export type Group = { name: string; schema: Schema; tests: { name: string; data: unknown; valid: boolean }[] }

const groupsFile = 'draft2020-12.json.gz'
const remotesFile = 'remotes.json.gz'

const digests = {
  [groupsFile]: 'd69b7e5b949495a7babb349b4f868cd27e770060873b60db99ff16311a1f61b3',
  [remotesFile]: '636645778c64eb91f3a267ad6a78b32fe739b0c14a760eb9ec26259fe2d0cb39',
}

type ReadGroup = {
  description: string
  schema: Schema
  tests: { description: string; data: unknown; valid: boolean }[]
}

/** Returns the texts in a file of the suite by their names. */
function textsIn(name: keyof typeof digests): Record<string, string> {
  const bytes = readFileSync(join(import.meta.dirname, 'json-schema-test-suite', name))
  if (hash('sha256', bytes) !== digests[name]) throw new Error(`${name} was changed; correct its digest`)
  return JSON.parse(gunzipSync(bytes).toString())
}

/** Returns the schemas to which the suite refers by URLs, each with a $id. No dialects are among them. */
export const suiteRemotes = (): Node[] =>
  Object.entries(textsIn(remotesFile))
    .map(([path, text]): Node => ({ $id: `http://localhost:1234/${path}`, ...JSON.parse(text) }))
    .filter((schema) => !('$vocabulary' in schema))

/** Returns the metaschema of draft 2020-12 and those that it refers to. */
export function metaschemas(): Node[] {
  const require = createRequire(import.meta.url)
  const names = 'core applicator unevaluated content format-annotation meta-data validation'.split(' ')
  return ['schema', ...names.map((name) => `meta/${name}`)].map((name) =>
    require(`ajv/dist/refs/json-schema-2020-12/${name}.json`),
  )
}

/** Returns the groups of the suite: the required ones, then the optional ones and those of the formats. */
export function suiteGroups(): Group[] {
  const texts = textsIn(groupsFile)
  return Object.entries(texts).flatMap(([name, text]) => groupsOf(name, JSON.parse(text)))
}

const groupsOf = (file: string, groups: ReadGroup[]): Group[] =>
  groups.map(({ description, schema, tests }) => {
    const name = `${file}: ${description}`
    return {
      name,
      schema,
      tests: tests.map(({ description, ...test }) => ({ name: `${name}: ${description}`, ...test })),
    }
  })
