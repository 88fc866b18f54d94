export type {
  Claim,
  ClaimOutcome,
  Completion,
  KeyedRequest,
  KeyLimits,
  KeyStore,
} from './idempotency/key-store.ts'
export type { IdempotencyOptions } from './idempotency/keyed-operation.ts'
export { memoryKeys } from './idempotency/memory-keys.ts'
export {
  type PostgresConnection,
  type PostgresPool,
  type PostgresQuery,
  postgresJsPool,
} from './idempotency/postgres-connection.ts'
export { type PostgresKeyOptions, postgresKeys } from './idempotency/postgres-keys.ts'
export type { SqliteKeyDatabase } from './idempotency/sqlite-key-table.ts'
export { type SqliteKeyOptions, sqliteKeys } from './idempotency/sqlite-keys.ts'
export { type TransactionalKeys, transactionalPostgresKeys } from './idempotency/transactional-postgres-keys.ts'
