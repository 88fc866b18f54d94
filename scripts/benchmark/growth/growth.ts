import { connections } from './connections.ts'
import { operations } from './operations.ts'
import type { Series } from './series.ts'

/** The series of each group, in the order of the page. */
export const growth: Record<'growth', Series[]> = { growth: [operations, connections] }
