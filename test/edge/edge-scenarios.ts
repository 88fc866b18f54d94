import { runScenarios } from '../scenarios/scenario-runner.ts'
import { descriptors } from './file-descriptors.ts'
import { bodies } from './hostile-bodies.ts'
import { overload } from './overload.ts'
import { proxies } from './proxied-restarts.ts'
import { revocation } from './revocation.ts'
import { rolling } from './rolling-restarts.ts'
import { slow } from './slow-connections.ts'

await runScenarios(
  `npm run edge [-- NAME...]

Runs the built service under the conditions of operation: restarts, overload, slow clients, hostile bodies, no file
descriptors left. Checks that its clients get what it promises. The load comes from this process. Prints each figure on
a line. Exits with 1 when a figure is not what it must be. Needs Linux.
`,
  { rolling, proxies, slow, overload, bodies, descriptors, revocation },
)
