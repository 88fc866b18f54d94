import type { SchemaStep } from './schema-step.ts'

/** The schema of PostgreSQL after version 1, the table that `postgres.ts` makes. docs/migrations.md tells how to add a step. */
export const postgresSteps: SchemaStep[] = []
