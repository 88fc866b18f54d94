/** Logs one line and exits while every thread of Node's pool is busy: with no event left, Node cancels waiting writes. */
import { pbkdf2 } from 'node:crypto'
import { createLog } from '../../src/observability/log.ts'

const threads = 4
const { log } = await createLog({ level: 'info', format: process.env.LOG_FORMAT as string, isShared: false })
process.prependListener('exit', () => {
  for (let thread = 0; thread < threads; thread++) pbkdf2('', '', 100_000, 64, 'sha512', () => {})
})
log.info('the last line')
