/** The settings of a server, by name. A PostgreSQL-compatible engine may lack some of them. */
export type ServerSettings = Partial<Record<(typeof names)[number], string>>

const names = [
  'transaction_read_only',
  'server_encoding',
  'fsync',
  'synchronous_commit',
  'synchronous_standby_names',
] as const

/** Selects the settings that `unfitReason` checks. */
export const settingsQuery = `SELECT name, setting FROM pg_settings WHERE name IN ('${names.join("', '")}')`

/**
 * Returns why a server with these settings must not receive creates, or undefined when it may. A server is unfit when
 * it is read-only or cannot store every text. Without `acceptLoss` it is also unfit when it can lose acknowledged
 * plants, by a crash of its own or by a failover to its standby.
 */
export function unfitReason(settings: ServerSettings, acceptLoss: boolean): string | undefined {
  const { transaction_read_only, server_encoding = 'UTF8', fsync, synchronous_commit = 'on' } = settings
  if (transaction_read_only === 'on') return 'it is read-only'
  if (server_encoding !== 'UTF8') return `its encoding is ${server_encoding}, allowed: UTF8`
  const waitsForDisk = fsync !== 'off' && synchronous_commit !== 'off'
  const waitsForStandby = synchronous_commit !== 'local' || !settings.synchronous_standby_names
  if (acceptLoss || (waitsForDisk && waitsForStandby)) return undefined
  const setting = fsync === 'off' ? 'fsync is off' : `synchronous_commit is ${synchronous_commit}`
  return `its ${setting}, so it can lose acknowledged plants; allowed with accept_data_loss=true`
}
