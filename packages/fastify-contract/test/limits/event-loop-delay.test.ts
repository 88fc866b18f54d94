import { createHook } from 'node:async_hooks'
import { within } from 'fastify-contract-test-support/poll'
import t from 'tap'
import { interval, measureDelay } from '../../src/limits/event-loop-delay.ts'

t.test('the measurements of the event loop delay share one timer while the process is used', async (t) => {
  let timers = 0
  const hook = createHook({
    init(_id, type, _trigger, resource) {
      if (type === 'Timeout' && (resource as { _idleTimeout: number })._idleTimeout === interval) timers++
    },
  }).enable()
  await within(
    new Promise<void>((resolve) => {
      let measurements = 0
      const { use } = measureDelay(function countMeasurement() {
        if (++measurements === 5) resolve()
        return measurements < 5
      })
      use()
    }),
    'five measurements',
  )
  hook.disable()
  t.equal(timers, 1)
})
