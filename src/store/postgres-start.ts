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
    if (needed[name]?.test(setting) ?? true) continue
    if (name === 'server_encoding') throw new Error(`its encoding is ${setting}, allowed: UTF8`)
    if (acceptLoss) continue
    throw new Error(
      `its ${name} is ${setting}, so it can lose what it acknowledged; allowed with accept_data_loss=true`,
    )
  }
}

/** Errors of instances that make the table at once: it exists, or its type does, or its row in the catalogue is locked. */
const raced = /^(42P07|23505|XX000|40001)$/
const undefinedTable = '42P01'
const attempts = 10

/** Runs `use`, which needs the table, and where it is missing `make` before it; any number of instances may at once. */
export async function makeTable(use: () => Promise<unknown>, make: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await use()
      return
    } catch (error) {
      if ((error as { code?: string }).code !== undefinedTable || attempt === attempts) throw error
    }
    await make().catch((error: { code?: string }) => {
      if (!raced.test(String(error.code))) throw error
    })
  }
}
