import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import type { Scenario } from 'fastify-contract-test-support/scenario-runner'
import { bodyValidator, type Validate } from './body-validator.ts'
import { type Exceptions, exceptionsOf, reportExceptions } from './exceptions.ts'
import { type Group, suiteGroups } from './schema-suite.ts'

export const jsonSchema: Scenario = {
  title: 'the JSON Schema Test Suite, draft 2020-12: its values as request bodies, compared with plain Ajv',
  run: (report) => judgeSuite(report, suiteGroups(), bodyValidator, exceptionsOf('json-schema')),
}

/** Compares the service's verdict on each value with that of the suite and of plain Ajv. */
export async function judgeSuite(
  report: Report,
  groups: Group[],
  compile: (schema: Group['schema']) => Promise<Validate | undefined>,
  exceptions: Record<string, Exceptions>,
): Promise<void> {
  const refused: string[] = []
  const wrong: string[] = []
  const wrongAsAjv: string[] = []
  let right = 0
  let rightAlone = 0
  for (const { name, schema, tests } of groups) {
    const validate = await compile(schema)
    if (validate === undefined) {
      refused.push(name)
      continue
    }
    const plain = plainVerdict(schema)
    for (const test of tests) {
      const verdict = plain(test.data)
      const isAjvRight = verdict === test.valid
      if (validate(test.data) !== test.valid) (verdict === !test.valid ? wrongAsAjv : wrong).push(test.name)
      else {
        right++
        if (!isAjvRight) rightAlone++
      }
    }
  }
  report.figure('schemas', groups.length)
  reportExceptions(report, 'schemas rejected', refused, exceptions['schemas rejected'])
  report.notZero('values right', right)
  report.figure('values right where plain Ajv is wrong', rightAlone)
  report.figure('values wrong, as in plain Ajv', wrongAsAjv.length)
  reportExceptions(report, 'wrong, as in plain Ajv', countedByFormat(wrongAsAjv), exceptions['wrong, as in plain Ajv'])
  reportExceptions(report, 'wrong where plain Ajv is right', wrong, exceptions['wrong where plain Ajv is right'])
}

/** Returns the verdict of plain Ajv on a value; undefined if it cannot compile the schema, or recurses without end. */
function plainVerdict(schema: Group['schema']): (value: unknown) => boolean | undefined {
  const ajv = new Ajv2020({ strict: false, logger: false })
  addFormats.default(ajv)
  const validate = valueOrNone(() => ajv.compile(schema as object))
  return (value) => validate && valueOrNone(() => validate(value))
}

function valueOrNone<Value>(make: () => Value): Value | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}

/** Returns the names, with those of each format's tests replaced by one entry with their number. */
function countedByFormat(names: string[]): string[] {
  const counts = new Map<string, number>()
  for (const name of names) {
    const [format = ''] = /^optional\/format\/[^:]*/.exec(name) ?? []
    counts.set(format || name, (counts.get(format || name) ?? 0) + 1)
  }
  return Array.from(counts, ([name, count]) =>
    name.startsWith('optional/format/') ? `${name}: ${count} values` : name,
  )
}
