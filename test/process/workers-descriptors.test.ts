import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { withChildren } from '../../scripts/system/process-usage.ts'
import { startWorkers, storeWith } from '../support/worker-service.ts'

const skip = spawnSync('prlimit', ['--version']).status !== 0 && 'NOT RUN: prlimit is not installed'

t.test(
  'workers without a free file descriptor lose connections and recover once descriptors are free',
  { skip },
  async (t) => {
    const { create, child } = await startWorkers(t, { STORE_URL: storeWith(t) })
    const [, ...workers] = withChildren(child.pid as number)
    t.equal(workers.length, 2)
    const limit = (pid: number, files: number | string) => {
      const { stderr, status } = spawnSync('prlimit', [`--pid=${pid}`, `--nofile=${files}:`], { encoding: 'utf8' })
      t.equal(status, 0, stderr)
    }
    const before = /Max open files +(\d+)/.exec(readFileSync(`/proc/${workers[0]}/limits`, 'utf8'))?.[1] as string
    // The limit does not close open descriptors, and 0 to 2 are open.
    for (const pid of workers) limit(pid, 3)
    const lost = await Promise.allSettled([1, 2, 3, 4].map((id) => create(id)))
    t.same(
      lost.map(({ status }) => status),
      Array(4).fill('rejected'),
    )
    for (const pid of workers) limit(pid, before)
    for (const id of [5, 6, 7, 8]) t.equal((await create(id))[0], 200)
  },
)
