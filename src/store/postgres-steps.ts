import type { SchemaStep } from './schema-step.ts'

/** The steps of the PostgreSQL schema after version 1, see `postgres.ts`. docs/migrations.md says how to add one. */
export const postgresSteps: SchemaStep[] = []
