import { runScenarios, scenarioList } from 'fastify-contract-test-support/scenario-runner'
import { commandLine } from '../../scripts/system/command-line.ts'
import { build } from '../scenarios/run-build.ts'
import { early } from './early-answers.ts'
import { descriptors } from './file-descriptors.ts'
import { bodies } from './hostile-bodies.ts'
import { overload } from './overload.ts'
import { proxies } from './proxied-restarts.ts'
import { matrix } from './proxies/matrix.ts'
import { revocation } from './revocation.ts'
import { rolling } from './rolling-restarts.ts'
import { slow } from './slow-connections.ts'

const scenarios = { rolling, proxies, matrix, early, slow, overload, bodies, descriptors, revocation }
const { options, words } = commandLine(
  `.ci/nightly edge [NAME...] [--write]

Runs the built service under operating conditions: restarts, overload, slow clients, hostile bodies, no free file
descriptors. Checks that clients get the promised responses. This process generates the load. Prints one figure a line.
Exits with 1 when a figure is out of bounds, else with 2 when a scenario could not run. Needs Linux.

--write             writes the table of the scenario matrix into packages/fastify-contract/docs/proxies.md, and does not
                    compare it

${scenarioList(scenarios)}
`,
  { write: false },
  Object.keys(scenarios),
)
await build()
await runScenarios(scenarios, words, options)
