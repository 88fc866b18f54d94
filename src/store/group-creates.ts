import { groupCommit } from './group-commit.ts'
import type { CreateOutcome, StoredPlant } from './plant-store.ts'

/**
 * Returns a group commit of plants with at most `batchItems` plants in a batch. The size of a plant is that of its text
 * and an allowance for the objects around it. With `quiet`, metrics do not count the batches.
 */
export const groupCreates = (
  commit: (batch: StoredPlant[]) => Promise<CreateOutcome[]>,
  batchItems = Number.POSITIVE_INFINITY,
  quiet = false,
) =>
  groupCommit(commit, {
    sizeOf: ({ name, tag = '' }: StoredPlant) => 1_024 + 2 * (name.length + tag.length),
    batchItems,
    quiet,
  })
