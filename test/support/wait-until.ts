import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves when it is so, or after 60 seconds; gives whether it is. */
export async function until(isSo: () => boolean): Promise<boolean> {
  for (const end = Date.now() + 60_000; !isSo() && Date.now() < end; ) await sleep(10)
  return isSo()
}
