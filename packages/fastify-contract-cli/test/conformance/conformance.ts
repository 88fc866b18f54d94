import { runScenarios, scenarioList } from 'fastify-contract-test-support/scenario-runner'
import { commandLine } from '../../src/cli/command-line.ts'
import { documents } from './documents.ts'
import { jsonSchema } from './json-schema.ts'
import { jsonTexts } from './json-texts.ts'

const scenarios = { 'json-schema': jsonSchema, json: jsonTexts, documents }
const { words } = commandLine(
  `.ci/nightly conformance [NAME...]

Runs public test suites. Prints one figure a line. Exits with 1 when a result deviates from its suite and is not listed
in test/conformance/exceptions.yaml, or when a listed deviation no longer occurs.

${scenarioList(scenarios)}
`,
  {},
  Object.keys(scenarios),
)
await runScenarios(scenarios, words, {})
