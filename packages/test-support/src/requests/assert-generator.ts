import * as fc from 'fast-check'
import type { Document } from 'fastify-contract-cli/testing'
import { Generator, ReferenceValidator } from 'fastify-contract-cli/testing-values'
import type { Test } from 'tap'

/** Asserts for each schema of a document that the generator's valid values are valid and that its breaches are not. */
export function assertGenerator(t: Test, document: Document) {
  const generator = new Generator(document)
  const judge = new ReferenceValidator(document)
  for (const name of Object.keys((document.components as { schemas: object }).schemas)) {
    const schema = { $ref: `#/components/schemas/${name}` }
    assertAll(t, name, generator.valid(schema), (value) => judge.accepts(schema, value), 200)
    for (const { where, what, values } of generator.breaches(schema))
      assertAll(t, `${name}${where} ${what}`, values, (value) => !judge.accepts(schema, value), 10)
  }
}

/** Asserts that a property holds for all values. */
export function assertAll<T>(
  t: Test,
  name: string,
  values: fc.Arbitrary<T>,
  holds: (value: T) => boolean,
  numRuns: number,
) {
  const { failed, counterexample, errorInstance, seed } = fc.check(fc.property(values, holds), { numRuns, seed: 1 })
  t.notOk(failed, `${name}${failed ? `: ${fc.stringify(counterexample)} ${errorInstance} seed ${seed}` : ''}`)
}
