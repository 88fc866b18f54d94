/**
 * Preload of a service, run in each of its threads: moves the wall clock by as many milliseconds as the file says that
 * WALL_CLOCK_SHIFT names. The monotonic clock stays as it is.
 */
import { readFileSync } from 'node:fs'

const RealDate = Date
const { now } = RealDate

RealDate.now = () => now() + Number(readFileSync(process.env.WALL_CLOCK_SHIFT, 'utf8'))
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length === 0 ? [RealDate.now()] : given, newTarget),
})
