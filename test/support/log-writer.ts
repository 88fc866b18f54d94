/** Logs 20 lines of 1 MiB, more than the log buffers, then a short line every 100 ms until SIGTERM. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '../../packages/fastify-contract/src/service/log.ts'
import { prepareStderr } from '../../packages/fastify-contract/src/service/non-blocking-terminal.ts'

process.on('SIGHUP', () => {}).once('SIGTERM', () => process.exit())
prepareStderr()
const { log } = await createLog('plant-store', { level: 'info', format: process.env.LOG_FORMAT as string })
const large = 'x'.repeat(2 ** 20)
for (let line = 0; line < 20; line++) {
  log.info(large)
  // If the log blocked on its reader, the event loop would stop here.
  await sleep(1)
}
process.stderr.write('all are written\n')
setInterval(() => log.info('one more'), 100)
