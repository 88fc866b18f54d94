const undefinedTable = '42P01'

/**
 * Runs `use`, which needs the table, and where that is missing `make` and `use` again. Any number of instances may do so
 * at once: `make` then fails for all but one, in several ways, and there is a table all the same.
 */
export async function makeTable(use: () => Promise<unknown>, make: () => Promise<unknown>): Promise<void> {
  try {
    await use()
  } catch (error) {
    if ((error as { code?: string }).code !== undefinedTable) throw error
    const failed = await make().then(
      () => undefined,
      (reason: Error) => reason,
    )
    await use().catch((stillMissing: Error) => {
      throw failed ?? stillMissing
    })
  }
}
