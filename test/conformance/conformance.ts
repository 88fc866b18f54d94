import { runScenarios } from '../scenarios/scenario-runner.ts'
import { documents } from './documents.ts'
import { jsonSchema } from './json-schema.ts'
import { jsonTexts } from './json-texts.ts'

await runScenarios(
  `npm run conformance [-- NAME...]

Runs suites that others wrote. Prints each figure on a line. Exits with 1 when a case ends otherwise than its suite has
it and is not in test/conformance/exceptions.yaml, or is there and does not end so any more.
`,
  { 'json-schema': jsonSchema, json: jsonTexts, documents },
  {},
  async () => {},
)
