import { groupCommit } from './group-commit.ts'
import type { CreateOutcome, StoredPlant } from './plant-store.ts'

/**
 * Commits plants together, at most `batchItems` of them; the size of one is that of its text, and of what surrounds it on
 * its way. Where it is quiet, the metrics do not count its batches.
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
