import { setImmediate as turn } from 'node:timers/promises'
import { groupCommit } from '../../src/store/group-commit.ts'

/** Returns a group commit whose oldest pending batch ends when the test calls `end`. */
export function controlledGroupCommit(
  options: { batchBytes?: number; batchItems?: number; queueBytes?: number; maxInFlight?: number } = {},
) {
  const batches: { items: number[]; end(error?: Error): void }[] = []
  const creates = groupCommit<number, string>(
    (items) =>
      new Promise((resolve, reject) => {
        const outcomes = items.map((item) => `${item} is kept`)
        batches.push({ items, end: (error) => (error === undefined ? resolve(outcomes) : reject(error)) })
      }),
    { sizeOf: (item) => item, ...options },
  )
  const given = () => batches.map(({ items }) => items)
  const end = async (error?: Error) => {
    batches.shift()?.end(error)
    await turn()
    await turn()
  }
  return { ...creates, given, end }
}
