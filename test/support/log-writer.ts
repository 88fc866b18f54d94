/** Writes more large lines to the log than may wait, then a small one ten times a second until SIGTERM. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '../../src/observability/log.ts'
import { prepareStderr } from '../../src/process/stderr.ts'

process.on('SIGHUP', () => {}).once('SIGTERM', () => process.exit())
prepareStderr()
const { log } = await createLog({ level: 'info', format: process.env.LOG_FORMAT as string, isShared: false })
const large = 'x'.repeat(2 ** 20)
for (let line = 0; line < 20; line++) {
  log.info(large)
  // An event loop that waits for a reader would stop here.
  await sleep(1)
}
process.stderr.write('all are written\n')
setInterval(() => log.info('one more'), 100)
