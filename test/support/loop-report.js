// Loaded into a service: at SIGUSR2 it writes the turns of its event loop and its pending timers to stderr.
import { createHook } from 'node:async_hooks'
import { performance } from 'node:perf_hooks'

const timers = new Map()

createHook({
  init(id, type, _trigger, resource) {
    if (type === 'Timeout') timers.set(id, resource)
  },
  destroy(id) {
    timers.delete(id)
  },
}).enable()

process.on('SIGUSR2', () => {
  const pending = Array.from(timers.values(), ({ _idleTimeout }) => _idleTimeout)
  const turns = performance.nodeTiming.uvMetricsInfo.loopCount
  process.stderr.write(`loop ${JSON.stringify({ turns, seconds: performance.now() / 1_000, pending })}\n`)
})
