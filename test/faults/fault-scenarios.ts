import { runScenarios, type Scenario, scenarioList } from 'fastify-contract-test-support/scenario-runner'
import { commandLine, type Values } from '../../scripts/system/command-line.ts'
import { build } from '../scenarios/run-build.ts'
import { checkpoint } from './checkpoint.ts'
import { diskFull } from './disk-full.ts'
import type { Fault } from './fault-options.ts'
import { fsync } from './fsync.ts'
import { linearizability } from './histories/linearizability.ts'
import { idempotency } from './idempotency.ts'
import { patroni } from './patroni/patroni.ts'
import { postgresFaults } from './postgres-faults.ts'
import { powerLoss } from './power-loss/power-loss.ts'
import { readiness } from './readiness.ts'
import { randomOf } from './seeded-random.ts'
import { kill } from './service-kill.ts'

const defaults = {
  rounds: 200,
  outages: 10,
  images: 1_000,
  operations: 50_000,
  creates: 100_000,
  seed: 1 + (Date.now() % 1_000_000),
  store: undefined,
}

/** Assigns each scenario its own random sequence, so that a seed reproduces it whichever other scenarios run. */
const seeded = ({ run, ...fault }: Fault): Scenario<Values<typeof defaults>> => ({
  ...fault,
  async run(report, { seed, ...options }) {
    report.figure('seed', seed)
    await run(report, { ...options, random: randomOf(seed) })
  },
})

const scenarios = {
  kill: seeded(kill),
  'power-loss': seeded(powerLoss),
  'disk-full': seeded(diskFull),
  fsync: seeded(fsync),
  checkpoint: seeded(checkpoint),
  ...Object.fromEntries(Object.entries(postgresFaults).map(([name, fault]) => [name, seeded(fault)])),
  patroni: seeded(patroni),
  linearizability: seeded(linearizability),
  idempotency: seeded(idempotency),
  readiness: seeded(readiness),
}
const { options, words } = commandLine(
  `.ci/nightly faults [NAME...] [--rounds=200] [--outages=10] [--images=1000] [--operations=50000]
               [--creates=100000] [--seed=N] [--store=URL]

Injects faults into the built service and the systems below it, and checks its guarantees. Prints one figure a line.
Exits with 1 when a figure is out of bounds, else with 2 when a scenario could not run.

${scenarioList(scenarios)}
`,
  defaults,
  Object.keys(scenarios),
)
await build()
await runScenarios(scenarios, words, options)
