/**
 * Preload that shifts the wall clock of every thread by the number of milliseconds in the file at WALL_CLOCK_SHIFT. The
 * monotonic clock is unchanged.
 */
import { readFileSync } from 'node:fs'

const RealDate = Date
const { now } = RealDate

RealDate.now = () => now() + Number(readFileSync(process.env.WALL_CLOCK_SHIFT, 'utf8'))
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length === 0 ? [RealDate.now()] : given, newTarget),
})
