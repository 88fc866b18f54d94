import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Schema } from '../../src/serve/schema-keywords.ts'

/** A schema of the JSON Schema Test Suite with values that are valid or invalid. */
export type Group = { name: string; schema: Schema; tests: { name: string; data: unknown; valid: boolean }[] }

const file = join(import.meta.dirname, 'json-schema-test-suite', 'draft2020-12.json.gz')
const digest = 'd69b7e5b949495a7babb349b4f868cd27e770060873b60db99ff16311a1f61b3'

type ReadGroup = {
  description: string
  schema: Schema
  tests: { description: string; data: unknown; valid: boolean }[]
}

/** Returns the groups of the suite: the required ones, then the optional ones and those of the formats. */
export function suiteGroups(): Group[] {
  const bytes = readFileSync(file)
  if (hash('sha256', bytes) !== digest) throw new Error(`${file} was changed; correct its digest`)
  const texts: Record<string, string> = JSON.parse(gunzipSync(bytes).toString())
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
