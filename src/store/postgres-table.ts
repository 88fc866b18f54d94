const undefinedTable = '42P01'

/**
 * Runs `use`, which needs the table. When the table is missing, runs `make` and then `use` again. Several instances may
 * do so at once: `make` then fails, in one of several ways, for all but one of them, but the table exists.
 */
export async function ensureTable(use: () => Promise<unknown>, make: () => Promise<unknown>): Promise<void> {
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
