import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Schema } from '../../src/serve/schema-keywords.ts'

/** A schema of the JSON Schema Test Suite with values that are valid or invalid. */
export type Group = { name: string; schema: Schema; tests: { name: string; data: unknown; valid: boolean }[] }

const folder = 'packages/fastify-contract/test/conformance/json-schema-test-suite/draft2020-12'

type ReadGroup = {
  description: string
  schema: Schema
  tests: { description: string; data: unknown; valid: boolean }[]
}

/** Returns the groups of the suite: the required ones, then the optional ones and those of the formats. */
export const suiteGroups = (): Group[] =>
  ['', 'optional', join('optional', 'format')].flatMap((place) =>
    readdirSync(join(folder, place))
      .filter((file) => file.endsWith('.json'))
      .flatMap((file) => groupsOf(join(place, basename(file, '.json')), join(folder, place, file))),
  )

function groupsOf(prefix: string, path: string): Group[] {
  const groups: ReadGroup[] = JSON.parse(readFileSync(path, 'utf8'))
  return groups.map(({ description, schema, tests }) => {
    const name = `${prefix}: ${description}`
    return {
      name,
      schema,
      tests: tests.map(({ description, ...test }) => ({ name: `${name}: ${description}`, ...test })),
    }
  })
}
