import type { SchemaStep } from './schema-step.ts'

/** The schema of SQLite after version 2, which `sqlite-schema.ts` makes. docs/migrations.md tells how to add a step. */
export const sqliteSteps: SchemaStep[] = []
