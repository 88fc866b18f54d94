/**
 * Logs one line and exits while every thread of Node's pool is busy: with no event left, Node cancels waiting writes.
 * If LINES is set, logs that many lines and exits at once.
 */
import { pbkdf2 } from 'node:crypto'
import { createLog } from '../../packages/fastify-contract/src/service/log.ts'

const threads = 4
const { log } = await createLog('plant-store', { level: 'info', format: process.env.LOG_FORMAT as string })
process.prependListener('exit', () => {
  for (let thread = 0; thread < threads; thread++) pbkdf2('', '', 100_000, 64, 'sha512', () => {})
})
const { LINES } = process.env
for (let line = 0; line < Number(LINES ?? 1); line++) log.info('the last line')
if (LINES !== undefined) process.exit()
