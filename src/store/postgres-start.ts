import type { Primary } from './postgres-primary.ts'

/** What a server must be set to, so that it keeps every text and whatever it acknowledges. */
const needed: Record<string, RegExp> = {
  fsync: /^on$/,
  synchronous_commit: /^(?!off$)/,
  server_encoding: /^UTF8$/,
}

/** Throws when the server would not keep what it acknowledges, unless that is accepted, or not every text. */
export async function checkServer(primary: Primary, acceptLoss: boolean): Promise<void> {
  const settings = await primary.query<{ name: string; setting: string }>(
    'SELECT name, setting FROM pg_settings WHERE name = ANY ($1::text[])',
    [Object.keys(needed)],
  )
  for (const { name, setting } of settings) {
    if ((needed[name] as RegExp).test(setting)) continue
    if (name === 'server_encoding') throw new Error(`its encoding is ${setting}, allowed: UTF8`)
    if (acceptLoss) continue
    throw new Error(
      `its ${name} is ${setting}, so it can lose what it acknowledged; allowed with accept_data_loss=true`,
    )
  }
}

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
