import type { SchemaStep } from './schema-step.ts'

/** The steps of the SQLite schema after version 2, see `sqlite-schema.ts`. docs/migrations.md says how to add one. */
export const sqliteSteps: SchemaStep[] = []
