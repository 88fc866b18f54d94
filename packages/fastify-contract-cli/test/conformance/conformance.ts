import { runScenarios } from 'fastify-contract-test-support/scenario-runner'
import { documents } from './documents.ts'
import { jsonSchema } from './json-schema.ts'
import { jsonTexts } from './json-texts.ts'

await runScenarios(
  `.ci/nightly conformance [NAME...]

Runs public test suites. Prints one figure a line. Exits with 1 when a result deviates from its suite and is not listed
in packages/fastify-contract-cli/test/conformance/exceptions.yaml, or when a listed deviation no longer occurs.
`,
  { 'json-schema': jsonSchema, json: jsonTexts, documents },
  {},
  async () => {},
)
